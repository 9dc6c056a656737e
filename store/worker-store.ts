/** The rows of workers, with their beats (domain/worker-watch.ts). They belong to no tenant. */
import type { WorkerBeat } from '#domain/worker-watch.ts';
import type { Pool } from './postgres/pool.ts';
import { affects, execute, readRows } from './postgres/statements.ts';

export interface WorkerRow extends WorkerBeat {
  /** The machine and the process on it; null where processes of a machine cannot be told apart for good. */
  readonly machine: string | null;
  readonly process: string;
}

/** What a worker says of itself with each beat. */
export interface OwnWorkerRow extends Omit<WorkerRow, 'beat'> {
  readonly version: string;
  readonly build: string;
  /** Its activities that run, counted by their types. */
  readonly running: Readonly<Record<string, number>>;
}

export interface LiveWorkerRow extends Pick<OwnWorkerRow, 'id' | 'version' | 'build' | 'running'> {
  readonly seen_at: Date;
}

/** Raises the worker's own beat and returns the rows of the others. One commit, which waits for no disk. */
export async function beatOfWorker(
  pool: Pool,
  { id, machine, process, version, build, running }: OwnWorkerRow,
): Promise<readonly WorkerRow[]> {
  const { rows } = await pool.query<WorkerRow>({
    name: 'worker_beat',
    text: `with own as (
        insert into workers (id, machine, process, version, build, running) values ($1, $2, $3, $4, $5, $6)
        on conflict (id) do update
          set beat = workers.beat + 1, beat_at = now(), claimed_by = null, running = excluded.running
        returning set_config('synchronous_commit', 'off', true))
      select w.id, w.machine, w.process, w.beat from workers w, own where w.id <> $1`,
    values: [id, machine, process, version, build, JSON.stringify(running)],
  });
  return rows;
}

/** Those that have beaten in the last seconds; the rows of others stay until a worker has searched their calls. */
export function listLiveWorkers(pool: Pool): Promise<LiveWorkerRow[]> {
  return readRows<LiveWorkerRow>(pool)`select id, version, build, running, beat_at as seen_at from workers
    where beat_at > now() - interval '5 seconds' order by id`;
}

/**
 * Claims or keeps the search for the calls of a lost worker. False when it has beaten since, or another worker
 * searches. A claim that is not renewed for 30 s ends, because the one that has it may be lost too.
 */
export function claimLostWorker(pool: Pool, { id, beat }: WorkerBeat, by: string): Promise<boolean> {
  return affects(pool)`update workers set claimed_by = ${by}, claimed_at = now()
    where id = ${id} and beat = ${beat}
      and (claimed_by is null or claimed_by = ${by} or claimed_at < now() - interval '30 seconds')`;
}

/** For a worker that ends by itself, or whose calls have been found. A worker that was only slow beats again. */
export async function removeWorker(pool: Pool, id: string): Promise<void> {
  await execute(pool)`delete from workers where id = ${id}`;
}
