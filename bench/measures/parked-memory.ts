/** Measures the memory that a session costs in the worker while it waits for a person's decision. */
import { setTimeout as sleep } from 'node:timers/promises';
import { timeTurn } from '../contender.ts';
import { type Bench, countOf, manyAtOnce, type Measure, untilCount, withWorker } from '../measure.ts';
import { digits, type Goal } from '../report.ts';
import type { Memory } from '../worker-process.ts';

const WAITING = `select count(*)::int from turns where agent_key = 'bench-ask' and status = 'waiting_approval'`;

export const parkedMemory: Measure = (bench) =>
  withWorker(bench, { TEMPOCLAW_MAX_CACHED_WORKFLOWS: '250' }, () => measureMemory(bench));

const measureMemory: Measure = async (bench) => {
  const sessions = bench.quick ? 10 : 500;
  // Code and pools are now as in use, so that only the sessions grow after this.
  await manyAtOnce(bench.quick ? 4 : 100, 16, async () => {
    await timeTurn(bench.ours, { steps: 3, tool: 'datetime', pad: 500 });
  });
  const counts = [0, 2, 5].map((times) => times * sessions);
  bench.log(`${counts.at(-1)} sessions that wait for a decision`);
  const taken: Memory[] = [];
  for (const count of counts) {
    await untilWaiting(bench, count);
    taken.push(await bench.workers.tempoclaw.memory());
  }
  const each = (of: Of, first: 0 | 1): number => {
    const [before, after] = taken.slice(first, first + 2);
    if (!before || !after) throw new Error('memory was not taken');
    return (of(after) - of(before)) / (first === 0 ? 2 : 3) / sessions / 1000;
  };
  const row = (name: string, of: Of): string[] => [
    name,
    ...taken.map((at) => digits(of(at) / 1000)),
    digits(each(of, 0)),
    digits(each(of, 1)),
  ];
  return {
    name: 'parked',
    title: `${counts.at(-1)} sessions that await an approval`,
    how: "The worker after a garbage collection in all its threads that gives free memory back. Heap: JavaScript with its buffers; resident: the whole process. The first sessions also fill the worker's cache of workflows, which has 250 here; what every further one costs shows in the last column.",
    columns: ['KB', ...counts.map(String), 'each of the first', 'each further'],
    rows: [
      row('heap of the main thread', ({ main }) => main),
      row('heap of the workflow threads', ({ workflows }) => workflows),
      row('heap', heap),
      row('resident', resident),
    ],
    goals: [goal('each further, heap', each(heap, 1)), goal('each further, resident', each(resident, 1))],
  };
};

type Of = (memory: Memory) => number;

const heap: Of = ({ main, workflows }) => main + workflows;
const resident: Of = ({ rss }) => rss;

function goal(what: string, value: number): Goal {
  return { what: `KB a parked session: ${what}`, value, limit: 10, kind: 'max' };
}

/** Parks further sessions until `expected` sessions wait. */
async function untilWaiting(bench: Bench, expected: number): Promise<void> {
  const { pool } = bench.stack;
  await manyAtOnce(expected - (await countOf(pool, WAITING)), 16, async () => {
    await bench.ours.start({ steps: 1, tool: 'datetime', pad: 500 }, { agent: 'bench-ask' });
  });
  await untilCount(pool, expected, WAITING);
  // The approvals' workflows must be running as well.
  await sleep(2_000);
}
