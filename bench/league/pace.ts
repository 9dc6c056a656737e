/** Measures a side that nobody kills: the time of a step, turns a second, and the memory of its processes. */
import { manyAtOnce } from '../measure.ts';
import { residentMb } from '../process-cost.ts';
import { spreadOf } from '../report.ts';
import { messageOf } from './script.ts';
import type { Pace } from './results.ts';
import type { RunningSide } from './side.ts';
import type { World } from './world.ts';

const STEPS = 20;
const AT_ONCE = 16;
const SHORT_STEPS = 5;
const TURN_MS = 300_000;

/** A step is a model call that answers at once, and a payment. Memory is of all its processes, and of its servers. */
export interface PaceOptions {
  /** Turns of 20 steps, one after the other; after one that does not count. */
  readonly turns: number;
  /** Turns of 5 steps, 16 at once. */
  readonly many: number;
}

export async function measurePace(
  running: RunningSide,
  world: World,
  { turns, many }: PaceOptions,
): Promise<Pace> {
  const run = async (turn: string, steps: number): Promise<void> => {
    world.expect(turn);
    await running.begin(turn, messageOf(turn, steps));
    if (!(await world.answered(turn, TURN_MS))) throw new Error(`the turn ${turn} did not end`);
  };
  const times: number[] = [];
  for (let n = -1; n < turns; n += 1) {
    const began = performance.now();
    await run(`pace-${n + 1}`, STEPS);
    if (n >= 0) times.push((performance.now() - began) / STEPS);
  }
  const began = performance.now();
  await manyAtOnce(many, AT_ONCE, (n) => run(`many-${n}`, SHORT_STEPS));
  const seconds = (performance.now() - began) / 1_000;
  const sum = (pids: readonly number[]): number => pids.reduce((mb, pid) => mb + residentMb(pid), 0);
  return {
    stepMs: spreadOf(times).median,
    turnsPerSecond: many / seconds,
    memoryMb: sum(running.pids()),
    serversMb: sum(Object.values(running.services).map((service) => service.pid())),
  };
}
