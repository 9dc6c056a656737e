/** Measures how fast retention removes old events, and the turns that run meanwhile. */
import { loadRowParts } from '#store/row-parts.ts';
import { FEATURES } from '#features';
import { pruneByRetention } from '#store/retention-store.ts';
import { type Bench, countOf, type Measure } from '../measure.ts';
import { NEIGHBOUR, timeTurn } from '../contender.ts';
import { p95Of, shown, spreadOf } from '../report.ts';

const WORK = { steps: 5, tool: 'read_file' } as const;
const OF_A_SESSION = 500;
/** The time that a sweep has in each minute (store/remove-in-turn.ts). */
const SWEEP_SHARE = 20 / 60;

export const retention: Measure = async (bench) => {
  const { pool } = bench.stack;
  const events = bench.quick ? 20_000 : 1_000_000;
  bench.log(`${events} old events`);
  await addOldEvents(bench, events);
  const alone = await turnsWhile(bench, Promise.resolve(), bench.quick ? 5 : 60);
  bench.log('retention removes them beside turns');
  const rows = await loadRowParts(FEATURES);
  const removal = timeRemoval(async () => pruneByRetention(pool, rows, { events_days: 30 }));
  const beside = await turnsWhile(bench, removal, 5);
  const { count, ms } = await removal;
  const left = await countOf(
    pool,
    `select count(*)::int as count from events where at < now() - interval '31 days'`,
  );
  const perSecond = (count / ms) * 1000;
  const minutes = 1_000_000 / (perSecond * SWEEP_SHARE) / 60;
  const ratio = p95Of(beside) / p95Of(alone);
  return {
    name: 'retention',
    title: 'Retention beside turns',
    how: `${events} events of one tenant that are older than its retention, ${OF_A_SESSION} a session; turns of ${WORK.steps} steps of another tenant, one after the other. A sweep removes for 20 s of each minute.`,
    columns: ['', 'value'],
    rows: [
      ['rows removed a second', perSecond.toFixed(0)],
      ['old events left', String(left)],
      ['minutes for a million', minutes.toFixed(1)],
      ['a turn alone, ms', shown(spreadOf(alone))],
      ['a turn beside it, ms', shown(spreadOf(beside))],
      ['p95, ratio', ratio.toFixed(2)],
    ],
    goals: [
      { what: 'minutes for a million old events', value: minutes, limit: 10, kind: 'max' },
      { what: 'p95 of a turn beside retention, ratio to alone', value: ratio, limit: 1.2, kind: 'max' },
    ],
  };
};

/** Sessions interleave, as they do when many speak at the same time. */
async function addOldEvents({ stack }: Bench, count: number): Promise<void> {
  await stack.pool.query(`
    insert into events (tenant_id, session_key, id, type, data, at)
    select '${NEIGHBOUR}', 'old-' || n % ${count / OF_A_SESSION}, n, 'delta',
      jsonb_build_object('text', repeat(md5(n::text), 6)), now() - interval '90 days' + n * interval '1 second'
    from generate_series(1, ${count}) n`);
}

async function timeRemoval(prune: () => Promise<number>): Promise<{ count: number; ms: number }> {
  const began = performance.now();
  let count = 0;
  for (;;) {
    const removed = await prune();
    if (removed === 0) return { count, ms: performance.now() - began };
    count += removed;
  }
}

/** At least so many turns, and as many as end before the work does. */
async function turnsWhile({ ours }: Bench, work: Promise<unknown>, turns: number): Promise<number[]> {
  const progress = { isDone: false };
  void work.finally(() => {
    progress.isDone = true;
  });
  const times: number[] = [];
  while (times.length < turns || !progress.isDone) times.push(await timeTurn(ours, WORK));
  return times;
}
