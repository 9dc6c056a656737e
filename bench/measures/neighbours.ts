/** Measures the turns of one tenant while another has queued thousands. */
import { type Bench, manyAtOnce, type Measure } from '../measure.ts';
import { NEIGHBOUR, timeTurn } from '../contender.ts';
import { p95Of, ratioOf, shown, spreadOf } from '../report.ts';

/** A turn of two steps with tools takes 9 s of waits. */
const WORK = { steps: 2, tool: 'datetime', modelMs: 3_000 } as const;
/** Turns of the measured tenant, a few at a time. */
const AT_ONCE = 4;

export const neighbours: Measure = async (bench) => {
  const queued = bench.quick ? 50 : 10_000;
  const turns = bench.quick ? 4 : 40;
  bench.log(`${turns} turns alone`);
  const alone = await turnsOf(bench, turns);
  bench.log(`the same beside ${queued} queued turns of another tenant`);
  // Nothing waits for their ends: they are open until the stack ends.
  await manyAtOnce(queued, 64, async () => {
    await bench.ours.start(WORK, { agent: 'bench' });
  });
  const beside = await turnsOf(bench, turns);
  const [p95Alone, p95Beside] = [p95Of(alone), p95Of(beside)];
  return {
    name: 'neighbours',
    title: `Beside a tenant with ${queued} queued turns`,
    how: `Turns of ${WORK.steps} steps with a model of ${WORK.modelMs} ms, ${AT_ONCE} at a time: alone, and while another tenant has ${queued} such turns open. One worker with default settings.`,
    columns: ['ms', 'alone', 'beside them', 'ratio'],
    rows: [
      [
        `a turn, median of ${turns}`,
        shown(spreadOf(alone)),
        shown(spreadOf(beside)),
        shown(ratioOf(beside, alone)),
      ],
      ['a turn, p95', p95Alone.toFixed(0), p95Beside.toFixed(0), (p95Beside / p95Alone).toFixed(2)],
    ],
    goals: [
      {
        what: 'p95 beside the other tenant, ratio to alone',
        value: p95Beside / p95Alone,
        limit: 1.3,
        kind: 'max',
      },
    ],
  };
};

async function turnsOf(bench: Bench, turns: number): Promise<number[]> {
  const times: number[] = [];
  await manyAtOnce(turns, AT_ONCE, async () => {
    times.push(await timeTurn(bench.ours, WORK, { tenant: NEIGHBOUR }));
  });
  return times;
}
