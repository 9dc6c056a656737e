/** What every measurement gets, and the round that keeps comparisons fair. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TemporalAccess } from '#temporal/client.ts';
import type { Contender } from './contender.ts';
import type { Section } from './report.ts';
import type { BenchStack } from './stack.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface Bench {
  readonly stack: BenchStack;
  readonly bareA: Contender;
  readonly bareB: Contender;
  readonly ours: Contender;
  readonly temporal: TemporalAccess;
  readonly workers: { bare: WorkerProcess; tempoclaw: WorkerProcess };
  /** Runs few and small rounds, which show that it works, not how fast. */
  readonly quick: boolean;
  readonly log: (words: string) => void;
}

export type Measure = (bench: Bench) => Promise<Section>;

/** One value for each contender and round, by name. */
export type Rounds = Readonly<Record<Contender['name'], readonly number[]>>;

/**
 * Runs every contender once a round. Each round begins with another one, so that none always has the machine's best
 * moment.
 */
export async function inRounds(
  bench: Bench,
  rounds: number,
  measure: (contender: Contender) => Promise<number>,
): Promise<Rounds> {
  const contenders = [bench.bareA, bench.bareB, bench.ours];
  const values: Record<Contender['name'], number[]> = { 'bare A': [], 'bare B': [], TempoClaw: [] };
  for (let round = 0; round < rounds; round += 1)
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(round + turn) % contenders.length];
      if (contender) values[contender.name].push(await measure(contender));
    }
  return values;
}

const PATIENCE_MS = 120_000;

/** Waits until `query` counts this many rows; throws when it does not after two minutes. */
export async function untilCount(
  pool: BenchStack['pool'],
  expected: number,
  query: string,
  values: readonly string[] = [],
): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const count = await countOf(pool, query, values);
    if (count >= expected) return;
    if (Date.now() > deadline) throw new Error(`${values.join(', ')}: ${count} of ${expected}: ${query}`);
    await sleep(10);
  }
}

/** Returns the `count` of the query. */
export async function countOf(
  pool: BenchStack['pool'],
  query: string,
  values: readonly string[] = [],
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(query, [...values]);
  return rows[0]?.count ?? 0;
}

/** Runs `total` jobs with at most `concurrency` under way. */
export async function manyAtOnce(
  total: number,
  concurrency: number,
  job: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < total) {
      next += 1;
      await job(next);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, total) }, lane));
}

/** Runs the job with a TempoClaw worker of these settings, and starts the usual one again after it. */
export async function withWorker<Result>(
  bench: Bench,
  settings: Readonly<Record<string, string>>,
  job: (worker: WorkerProcess) => Promise<Result>,
): Promise<Result> {
  await bench.workers.tempoclaw.stop();
  const worker = await bench.stack.startWorker('tempoclaw', settings);
  bench.workers.tempoclaw = worker;
  try {
    return await job(worker);
  } finally {
    await worker.stop();
    bench.workers.tempoclaw = await bench.stack.startWorker('tempoclaw');
  }
}
