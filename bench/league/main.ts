/**
 * `npx node bench/league/main.ts` kills TempoClaw and other agent runtimes at the same points of the same turn, and
 * writes what became of the turns to bench/league/results.json, docs/league.md and docs/images/league.svg. `--peers a,b`,
 * `--points a,b` and `--n 5` select; a selection keeps what it did not measure. `--batch 20` is how many turns one kill
 * meets. `--no-pace` measures no times without kills. `--json FILE` writes there instead.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readPeers } from './peers.ts';
import { type PointId, POINTS, pointOf } from './points.ts';
import { measurePace } from './pace.ts';
import { writeReport } from './report.ts';
import {
  condense,
  machine,
  mergeResults,
  readResults,
  type PointResults,
  type Results,
  type SideResults,
} from './results.ts';
import type { Side } from './side.ts';
import { TEMPOCLAW, TEMPOCLAW_CHECKED } from './tempoclaw.ts';
import { runBatch, type Trial } from './trial.ts';
import { startWorld, type World } from './world.ts';

const MAX_TURNS = 1_000;
const RECORD_MS = 20;

/** Ends what runs now. */
let onSignal: (() => Promise<void>) | undefined;

const log = (words: string): void => console.error(`league: ${words}`);

export interface LeagueOptions {
  readonly sides: readonly Side[];
  readonly points: readonly PointId[];
  readonly n: number;
  /** Turns that one kill meets. */
  readonly batch: number;
  /** Without it, nothing is timed. */
  readonly pace?: { readonly turns: number; readonly many: number } | undefined;
  readonly log: (words: string) => void;
}

/** Measures each side with servers of its own, one after the other. */
export async function runLeague({ sides, ...options }: LeagueOptions): Promise<Results> {
  const results: SideResults[] = [];
  const world = await startWorld();
  try {
    for (const side of sides) results.push(await runSide(side, world, options));
  } finally {
    await world.close();
  }
  return { machine: machine(), sides: results };
}

async function runSide(
  side: Side,
  world: World,
  { points, n, batch, pace, log }: Omit<LeagueOptions, 'sides'>,
): Promise<SideResults> {
  const stateDir = await mkdtemp(join(tmpdir(), 'tempoclaw-league-'));
  // As root, Postgres runs as another user and must be able to enter the folder.
  await chmod(stateDir, 0o711);
  log(`${side.title}: starting`);
  const running = await side.start({ worldUrl: world.url, stateDir, log });
  onSignal = () => running.stop();
  const tool = side === TEMPOCLAW_CHECKED ? 'charge' : 'pay';
  try {
    const paced = pace && (await measurePace(running, world, pace));
    if (paced)
      log(
        `${side.title}: ${paced.stepMs.toFixed(1)} ms a step, ${paced.turnsPerSecond.toFixed(1)} turns a second`,
      );
    const found: Record<string, PointResults> = {};
    for (const point of points.map(pointOf)) {
      if (!side.victims.includes(point.victim)) continue;
      const trials: Trial[] = [];
      for (let kill = 0; trials.length < n && kill < Math.ceil(n / batch) * 2; kill += 1) {
        const size = Math.min(batch, n - trials.length);
        const name = `${point.id}-${kill}`;
        const recordMs = Math.random() * RECORD_MS;
        trials.push(
          ...(await runBatch(side, running, world, { point: point.id, size, tool, name, recordMs })),
        );
      }
      const ends = condense(trials);
      found[point.id] = ends;
      log(`${side.title}, ${point.id}: ${summary(ends)}`);
    }
    const { id, title, versions, page } = side;
    return { id, title, versions, page, pace: paced, points: found };
  } finally {
    onSignal = undefined;
    await running.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}

function summary({ n, counts, seconds }: PointResults): string {
  const words = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
  return `${words.join(', ')} of ${n}; back after ${seconds?.median ?? '–'} s`;
}

/** In the order of the table. */
async function allSides(): Promise<readonly Side[]> {
  const order = ['temporal-ai-sdk', 'dbos', 'langgraph', 'restate', 'mastra-1.61', 'mastra', 'eve'];
  const peers = await readPeers();
  return [
    TEMPOCLAW,
    TEMPOCLAW_CHECKED,
    ...peers.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id)),
  ];
}

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      peers: { type: 'string' },
      points: { type: 'string' },
      n: { type: 'string', default: '100' },
      batch: { type: 'string', default: '20' },
      'no-pace': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const sides = await allSides();
  const names = flags.peers?.split(',') ?? sides.map(({ id }) => id);
  const unknown = names.filter((name) => !sides.some(({ id }) => id === name));
  const [n, batch] = [numberOf('n', flags.n), numberOf('batch', flags.batch)];
  if (unknown.length > 0)
    throw new Error(
      `There is no peer ${unknown.join(', ')}; there are ${sides.map(({ id }) => id).join(', ')}.`,
    );
  const results = await runLeague({
    sides: sides.filter(({ id }) => names.includes(id)),
    points: (flags.points?.split(',') ?? POINTS.map(({ id }) => id)).map((id) => pointOf(id).id),
    n,
    batch,
    pace: flags['no-pace'] ? undefined : { turns: 3, many: 64 },
    log,
  });
  if (flags.json) await writeFile(flags.json, `${JSON.stringify(results, null, 2)}\n`);
  else
    await writeReport(
      mergeResults(
        await readResults(),
        results,
        sides.map(({ id }) => id),
      ),
    );
}

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_TURNS)
    throw new Error(`--${flag} must be 1 to ${MAX_TURNS}.`);
  return value;
}

if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void (onSignal?.() ?? Promise.resolve()).finally(() => process.exit(130)));
  await main();
}
