/** Measures turns per second with 32 at once, and what each costs: CPU, history, storage. */
import type { Contender } from '../contender.ts';
import { type Bench, inRounds, manyAtOnce, type Measure } from '../measure.ts';
import { cpuMs } from '../process-cost.ts';
import { digits, ratioOf, shown, spreadOf } from '../report.ts';

const AT_ONCE = 32;
const STEPS = 5;
/** Characters of random text in each user message. */
const PAD = 2_000;

interface Cost {
  turnsPerSecond: number;
  workerCpu: number;
  temporalCpu: number;
  storeCpu: number;
  postgresCpu: number;
  historyBytes: number;
  historyEvents: number;
  temporalBytes: number;
  postgresBytes: number;
}

const ROWS: readonly [keyof Cost, string][] = [
  ['turnsPerSecond', 'turns per second'],
  ['workerCpu', 'worker CPU, ms per turn'],
  ['temporalCpu', 'Temporal CPU, ms per turn'],
  ['storeCpu', "CPU of Temporal's own Postgres, ms per turn"],
  ['postgresCpu', 'Postgres CPU, ms per turn'],
  ['historyEvents', 'history events per step'],
  ['historyBytes', 'history bytes per step'],
  ['temporalBytes', 'Temporal storage, bytes per turn'],
  ['postgresBytes', 'Postgres storage, bytes per turn'],
];

export const throughput: Measure = async (bench) => {
  const turns = bench.quick ? 8 : 96;
  const rounds = bench.quick ? 1 : 3;
  const costs: Record<Contender['name'], Cost[]> = { 'bare A': [], 'bare B': [], TempoClaw: [] };
  bench.log(`${rounds} rounds of ${turns} turns, ${AT_ONCE} at once`);
  const rates = await inRounds(bench, rounds, async (contender) => {
    const cost = await runMany(bench, contender, turns);
    costs[contender.name].push(cost);
    return cost.turnsPerSecond;
  });
  const ratio = ratioOf(rates.TempoClaw, rates['bare A']);
  const cell = (name: Contender['name'], key: keyof Cost): string =>
    shown(spreadOf(costs[name].map((cost) => cost[key])));
  const history = spreadOf(costs.TempoClaw.map((cost) => cost.historyBytes)).median;
  return {
    name: 'throughput',
    title: `${AT_ONCE} turns at once`,
    how: `Turns of ${STEPS} steps with \`read_file\` of 64 to ${64 * STEPS} bytes of random text, ${PAD} characters of random text in the message. CPU by /proc, storage as both stores' files grow (dead rows of Postgres included).`,
    columns: ['', 'bare A', 'bare B', 'TempoClaw', 'ratio to A'],
    rows: ROWS.filter(([key]) => key !== 'storeCpu' || bench.stack.pids.temporalStore !== undefined).map(
      ([key, title]) => [
        title,
        cell('bare A', key),
        cell('bare B', key),
        cell('TempoClaw', key),
        digits(
          ratioOf(
            costs.TempoClaw.map((cost) => cost[key]),
            costs['bare A'].map((cost) => cost[key]),
          ).median,
        ),
      ],
    ),
    goals: [
      { what: 'turns per second, ratio to bare A', value: ratio.median, limit: 1.5, kind: 'min' },
      { what: 'KB of history a step', value: history / 1000, limit: 3, kind: 'max' },
    ],
  };
};

async function runMany(bench: Bench, contender: Contender, turns: number): Promise<Cost> {
  const { stack } = bench;
  const { temporal, temporalStore, postgres } = stack.pids;
  const pids = [bench.workers[contender.side].pid, temporal, temporalStore, postgres];
  const cpu = (): number[] => pids.map((pid) => (pid === undefined ? 0 : cpuMs(pid)));
  const [cpuBefore, stored] = [cpu(), await stack.storage()];
  const ids: string[] = [];
  const began = performance.now();
  await manyAtOnce(turns, AT_ONCE, async () => {
    const { workflowId, end } = await contender.start({ steps: STEPS, tool: 'read_file', pad: PAD });
    ids.push(workflowId);
    await end();
  });
  const seconds = (performance.now() - began) / 1000;
  const [cpuAfter, storedAfter] = [cpu(), await stack.storage()];
  const perTurn = (after: number | undefined, before: number | undefined): number =>
    ((after ?? 0) - (before ?? 0)) / turns;
  const history = await historyOf(bench, ids.slice(0, 8));
  return {
    turnsPerSecond: turns / seconds,
    workerCpu: perTurn(cpuAfter[0], cpuBefore[0]),
    temporalCpu: perTurn(cpuAfter[1], cpuBefore[1]),
    storeCpu: perTurn(cpuAfter[2], cpuBefore[2]),
    postgresCpu: perTurn(cpuAfter[3], cpuBefore[3]),
    historyBytes: history.bytes / STEPS,
    historyEvents: history.events / STEPS,
    temporalBytes: perTurn(storedAfter.temporal, stored.temporal),
    postgresBytes: perTurn(storedAfter.postgres, stored.postgres),
  };
}

/** The size and length of a history as the server counts them, on average. */
async function historyOf(
  { stack }: Bench,
  ids: readonly string[],
): Promise<{ bytes: number; events: number }> {
  let [bytes, events] = [0, 0];
  for (const id of ids) {
    const { raw } = await stack.client.workflow.getHandle(id).describe();
    bytes += Number(raw.workflowExecutionInfo?.historySizeBytes ?? 0);
    events += Number(raw.workflowExecutionInfo?.historyLength ?? 0);
  }
  return { bytes: bytes / ids.length, events: events / ids.length };
}
