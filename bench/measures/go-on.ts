/** Measures how soon a turn continues after its worker was killed and another one has started. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, type Measure, untilCount } from '../measure.ts';
import { digits, shown, spreadOf } from '../report.ts';

const MODEL_MS = 400;
const ANSWERS = `select count(*)::int from messages where session_key = $1 and role = 'assistant'`;

export const goOn: Measure = async (bench) => {
  const rounds = bench.quick ? 1 : 5;
  bench.log(`${rounds} kills in the middle of a model call`);
  const [delays, starts]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const { readyMs, delayMs } = await killAndReplace(bench);
    delays.push(delayMs);
    starts.push(readyMs);
  }
  const delay = spreadOf(delays.map((ms) => ms / 1000));
  return {
    name: 'go-on',
    title: 'After a killed worker',
    how: `SIGKILL in the middle of a model call of ${MODEL_MS} ms, a new worker at once. Seconds from the moment the new one is ready until the step is recorded, less the ${MODEL_MS} ms of the repeated model call.`,
    columns: ['', 'seconds'],
    rows: [
      ['new worker up after', shown(spreadOf(starts.map((ms) => ms / 1000)))],
      ['then the turn goes on after', shown(delay)],
      ['all in all', digits(spreadOf(starts.map((ms, i) => (ms + (delays[i] ?? 0)) / 1000)).median)],
    ],
    goals: [{ what: 'seconds to go on', value: delay.median, limit: 1.5, kind: 'max' }],
  };
};

async function killAndReplace(bench: Bench): Promise<{ readyMs: number; delayMs: number }> {
  const session = `bench-${randomUUID()}`;
  const { end } = await bench.ours.start({ steps: 6, tool: 'datetime', modelMs: MODEL_MS }, { session });
  await untilCount(bench.stack.pool, 2, ANSWERS, [session]);
  await sleep(MODEL_MS / 2);
  const killed = performance.now();
  await bench.workers.tempoclaw.kill();
  bench.workers.tempoclaw = await bench.stack.startWorker('tempoclaw');
  const ready = performance.now();
  await untilCount(bench.stack.pool, 3, ANSWERS, [session]);
  const delayMs = Math.max(0, performance.now() - ready - MODEL_MS);
  await end();
  return { readyMs: ready - killed, delayMs };
}
