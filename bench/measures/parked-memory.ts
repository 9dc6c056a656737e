/** What a session that waits for a person's decision costs in the worker's memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { timeTurn } from '../contender.ts';
import { type Bench, manyAtOnce, type Measure } from '../measure.ts';
import { digits } from '../report.ts';
import type { Memory } from '../worker-process.ts';

const WAIT_MS = 120_000;

export const parkedMemory: Measure = async (bench) => {
  const sessions = bench.quick ? 10 : 500;
  // Code and pools as in use, so that what grows after this is the sessions.
  await manyAtOnce(bench.quick ? 4 : 100, 16, async () => {
    await timeTurn(bench.ours, { steps: 3, tool: 'datetime', pad: 500 });
  });
  bench.tell(`${4 * sessions} sessions that wait for a decision`);
  const taken: Memory[] = [];
  for (const parked of [0, 2, 3, 4].map((times) => times * sessions)) {
    await untilWaiting(bench, parked);
    taken.push(await bench.workers.tempoclaw.memory());
  }
  const [none, filled, more, most] = taken;
  if (!none || !filled || !more || !most) throw new Error('memory was not taken');
  const each = (of: Of, after: Memory, before: Memory, count: number): number =>
    (of(after) - of(before)) / count / 1000;
  const row = (name: string, of: Of): string[] => [
    name,
    ...taken.map((at) => digits(of(at) / 1000)),
    digits(each(of, filled, none, 2 * sessions)),
    digits(each(of, most, filled, 2 * sessions)),
  ];
  return {
    name: 'parked',
    title: `${4 * sessions} sessions that await an approval`,
    how: "The worker after a garbage collection in all its threads: what is in use of the JavaScript heaps with their buffers, and all that is resident outside of these heaps. The first sessions also fill the worker's cache of workflows, which has a fixed size; what every further one costs shows in the last column. The whole resident size has besides what the heaps keep free, which V8 gives back and takes anew by hundreds of megabytes.",
    columns: [
      'KB',
      ...[0, 2, 3, 4].map((times) => `${times * sessions}`),
      'each of the first',
      'each further',
    ],
    rows: [
      row('heap of the main thread', ({ main }) => main),
      row('heap of the workflow threads', ({ workflows }) => workflows),
      row('outside of the heaps', ({ native }) => native),
      row('all that is in use', inUse),
      row('whole resident size', ({ rss }) => rss),
    ],
    goals: [
      {
        what: 'KB a further parked session',
        value: each(inUse, most, filled, 2 * sessions),
        limit: 10,
        kind: 'max',
      },
    ],
  };
};

type Of = (memory: Memory) => number;

const inUse: Of = ({ main, workflows, native }) => main + workflows + native;

/** Parks what is missing of `wanted` sessions. */
async function untilWaiting(bench: Bench, wanted: number): Promise<void> {
  const { pool } = bench.stack;
  const waiting = async (): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int from turns where agent_key = 'bench-ask' and status = 'waiting_approval'`,
    );
    return rows[0]?.count ?? 0;
  };
  await manyAtOnce(wanted - (await waiting()), 16, async () => {
    await bench.ours.start({ steps: 1, tool: 'datetime', pad: 500 }, { agent: 'bench-ask' });
  });
  const deadline = Date.now() + WAIT_MS;
  for (let now = await waiting(); now < wanted; now = await waiting()) {
    if (Date.now() > deadline) throw new Error(`only ${now} of ${wanted} sessions wait`);
    await sleep(200);
  }
  // Until the approvals' workflows run as well.
  await sleep(2_000);
}
