/** Measures whether length costs: the thousandth step of a turn, and the thousandth turn of a session. */
import { randomUUID } from 'node:crypto';
import { timeTurn } from '../contender.ts';
import type { Measure } from '../measure.ts';
import { digits, shown, spreadOf } from '../report.ts';

const COUNT = 1_000;
/** How many at each end are measured; the very first ones warm the caches and do not count. */
const WINDOW = 50;
const WARM = 10;

export const longTurn: Measure = async (bench) => {
  const steps = bench.quick ? 30 : COUNT;
  const window = bench.quick ? 10 : WINDOW;
  bench.log(`one turn of ${steps} steps`);
  const session = `bench-${randomUUID()}`;
  await timeTurn(bench.ours, { steps, tool: 'datetime' }, { session });
  const { rows } = await bench.stack.pool.query<{ ms: number }>(
    `select ms::float from (select step, extract(epoch from created_at - lag(created_at) over (order by step)) * 1000 as ms
       from messages where session_key = $1 and role = 'assistant') as gaps where ms is not null order by step`,
    [session],
  );
  const times = rows.map((row) => row.ms);
  const first = times.slice(Math.min(WARM, window), Math.min(WARM, window) + window);
  return compare(
    'long-turn',
    'The last steps of a long turn',
    'step',
    `${times.length} steps with one \`datetime\` each, from one recorded answer to the next; ${window} at either end, without the first ${WARM}.`,
    first,
    times.slice(-window),
  );
};

export const longSession: Measure = async (bench) => {
  const turns = bench.quick ? 30 : COUNT;
  const window = bench.quick ? 10 : WINDOW;
  bench.log(`${turns} turns of one session`);
  const [long, young] = [`bench-${randomUUID()}`, `bench-${randomUUID()}`];
  const turnOf = (session: string): Promise<number> =>
    timeTurn(bench.ours, { steps: 1, tool: 'datetime' }, { session });
  for (let turn = 0; turn < turns - window; turn += 1) await turnOf(long);
  for (let turn = 0; turn < WARM; turn += 1) await turnOf(young);
  const first: number[] = [];
  const last: number[] = [];
  for (let turn = 0; turn < window; turn += 1) {
    first.push(await turnOf(young));
    last.push(await turnOf(long));
  }
  return compare(
    'long-session',
    'The last turns of a long session',
    'turn',
    `${turns} turns with one \`datetime\` each, one after the other; the last ${window} in turns with the first ones of another session, without its first ${WARM}: minutes apart, the machine differs by more.`,
    first,
    last,
  );
};

function compare(
  name: string,
  title: string,
  what: 'step' | 'turn',
  how: string,
  firstTimes: readonly number[],
  lastTimes: readonly number[],
): Awaited<ReturnType<Measure>> {
  const first = spreadOf(firstTimes);
  const last = spreadOf(lastTimes);
  const ratio = last.median / first.median;
  return {
    name,
    title,
    how,
    columns: ['', `first ${what}s ms`, `last ${what}s ms`, 'ratio'],
    rows: [['TempoClaw', shown(first), shown(last), digits(ratio)]],
    goals: [{ what: `last ${what}s to first, medians`, value: ratio, limit: 1.1, kind: 'max' }],
  };
}
