/** What a run of the league found: for each side and point, how many turns ended how. */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { spreadOf } from '../report.ts';
import { POINTS } from './points.ts';
import { OUTCOMES, type Outcome, type Trial } from './trial.ts';

const outcome = z.enum(OUTCOMES);
const pointResults = z.object({
  n: z.number(),
  counts: z.partialRecord(outcome, z.number()),
  /** From the start of what was killed to the answer, of the turns that were answered. */
  seconds: z.object({ median: z.number(), max: z.number() }).nullable(),
  /** Of these, the median until what was killed took requests again. */
  startSeconds: z.number(),
  /** For each outcome, what one of the models read about its call, or one of the callers got. */
  words: z.partialRecord(outcome, z.string()),
  /** Turns that were answered more than once. */
  answeredTwice: z.number(),
});
const pace = z.object({
  stepMs: z.number(),
  turnsPerSecond: z.number(),
  memoryMb: z.number(),
  serversMb: z.number(),
});
const sideResults = z.object({
  id: z.string(),
  title: z.string(),
  versions: z.string(),
  page: z.string(),
  pace: pace.optional(),
  points: z.record(z.string(), pointResults),
});
const results = z.object({ machine: z.string(), sides: z.array(sideResults) });

export type PointResults = z.infer<typeof pointResults>;
export type Pace = z.infer<typeof pace>;
export type SideResults = z.infer<typeof sideResults>;
export type Results = z.infer<typeof results>;

/** The points at which the worker is killed. */
export const WORKER_POINTS = POINTS.filter(({ victim }) => victim === 'worker').map(({ id }) => id);

export const RESULTS_FILE = join(import.meta.dirname, 'results.json');

/** What the last runs found; nothing when there was none. */
export async function readResults(): Promise<Results> {
  const text = await readFile(RESULTS_FILE, 'utf8').catch(() => undefined);
  return text === undefined ? { machine: machine(), sides: [] } : results.parse(JSON.parse(text));
}

export function machine(): string {
  return `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown CPU'}`;
}

/** Numbers of a point, without the single turns. */
export function condense(trials: readonly Trial[]): PointResults {
  const counts: Partial<Record<Outcome, number>> = {};
  const words: Partial<Record<Outcome, string>> = {};
  for (const trial of trials) {
    counts[trial.outcome] = (counts[trial.outcome] ?? 0) + 1;
    if (trial.words) words[trial.outcome] ??= trial.words.slice(0, 300);
  }
  const seconds = trials.flatMap((trial) => trial.seconds ?? []);
  const { median, max } = spreadOf(seconds);
  return {
    n: trials.length,
    counts,
    seconds: seconds.length > 0 ? { median: round(median), max: round(max) } : null,
    startSeconds: round(spreadOf(trials.map((trial) => trial.startSeconds)).median),
    words,
    answeredTwice: trials.filter(({ answers }) => answers > 1).length,
  };
}

/** `later` over `before`: a side keeps what it did not measure again, unless its versions differ. `order` are the ids. */
export function mergeResults(before: Results, later: Results, order: readonly string[]): Results {
  const sides = new Map(before.sides.map((side) => [side.id, side]));
  for (const side of later.sides) {
    const old = sides.get(side.id);
    const kept = old?.versions === side.versions ? old : undefined;
    sides.set(side.id, {
      ...side,
      pace: side.pace ?? kept?.pace,
      points: { ...kept?.points, ...side.points },
    });
  }
  const sorted = [...sides.values()].toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  return { machine: later.machine, sides: sorted.filter(({ id }) => order.includes(id)) };
}

/** The points of a side, or those of `ids`, as one. */
export function totalOf(
  side: SideResults,
  ids: readonly string[],
): { n: number; counts: Record<Outcome, number> } {
  const counts = Object.fromEntries(OUTCOMES.map((one) => [one, 0])) as Record<Outcome, number>;
  let n = 0;
  for (const id of ids) {
    const point = side.points[id];
    if (!point) continue;
    n += point.n;
    for (const one of OUTCOMES) counts[one] += point.counts[one] ?? 0;
  }
  return { n, counts };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
