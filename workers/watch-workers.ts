/**
 * Each worker raises its beat in Postgres and watches those of the others. One that finds a lost worker has its model
 * calls started again. Waiting for a model costs therefore no heartbeats of its own: a worker has one beat, whatever
 * it waits for. If Postgres cannot be reached, the rare heartbeats of the calls find out.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isAlive, ownIdentity, processRow } from '@tempoclaw/sandbox';
import { sessionWorkflowId } from '#domain/ids.ts';
import { createWorkerWatch, WORKER_BEAT_MS } from '#domain/worker-watch.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { type OpenSession, openSessions } from '#store/turns/open-work.ts';
import {
  beatOfWorker,
  claimLostWorker,
  type OwnWorkerRow,
  removeWorker,
  type WorkerRow,
} from '#store/worker-store.ts';
import type { FailLostCalls } from '#temporal/lost-calls.ts';

export interface WatchDeps {
  readonly pool: Pool;
  readonly failLostCalls: FailLostCalls;
  /** The identity with which this worker polls Temporal: no other process ever has the same. */
  readonly identity: string;
  /** What this worker says of itself now. */
  readonly about: () => Pick<OwnWorkerRow, 'version' | 'build' | 'running'>;
  readonly onLost: (identity: string, calls: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Sessions read at a time. */
const PAGE = 500;

/**
 * Seconds after the loss at which all open sessions are searched for its calls. In the seconds between, those are that
 * had one: Temporal may give a call again to a process that is suspended, or to a machine without power, as long as it
 * believes that they poll.
 */
const SEARCHES: readonly number[] = [0, 2, 5, 10, 20, 40];

/** Works until `close`, which says that this worker ends by itself: nobody then looks for its calls. */
export function watchWorkers(deps: WatchDeps): { close(): Promise<void> } {
  const { pool, identity, onError } = deps;
  const self = { id: identity, machine: thisMachine(), process: ownIdentity() };
  const watch = createWorkerWatch();
  const closing = new AbortController();
  const searches = new Map<string, Promise<void>>();
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= beat()
      .catch(onError)
      .finally(() => (running = undefined));
  }, WORKER_BEAT_MS);

  async function beat(): Promise<void> {
    const others = await beatOfWorker(pool, { ...self, ...deps.about() });
    const silent = new Set(watch.read(others, performance.now()));
    for (const other of others) {
      const isEnded = hasEnded(other, self.machine);
      if (!(isEnded || silent.has(other.id)) || searches.has(other.id)) continue;
      const search = searchCalls(deps, other, isEnded ? [0] : SEARCHES, closing.signal)
        .catch((error: unknown) => closing.signal.aborted || onError(error))
        .then(() => void searches.delete(other.id));
      searches.set(other.id, search);
    }
  }

  return {
    async close() {
      clearInterval(timer);
      closing.abort();
      await running;
      await Promise.all(searches.values());
      await removeWorker(pool, identity).catch(onError);
    },
  };
}

/** Until the worker beats again, or was searched for long enough. */
async function searchCalls(
  { pool, failLostCalls, identity, onLost }: WatchDeps,
  lost: WorkerRow,
  searches: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  let again: readonly string[] = [];
  for (let second = 0; second <= (searches.at(-1) ?? 0); second += 1) {
    if (second > 0) await sleep(1_000, undefined, { signal });
    const isFull = searches.includes(second);
    if (!isFull && again.length === 0) continue;
    if (!(await claimLostWorker(pool, lost, identity))) return;
    const had = [];
    for await (const page of isFull ? pagesOfOpenSessions(pool) : [again])
      had.push(...(await failLostCalls(page, lost.id)));
    again = had;
    if (second === 0 || had.length > 0) onLost(lost.id, had.length);
  }
  await removeWorker(pool, lost.id);
}

async function* pagesOfOpenSessions(pool: Pool): AsyncGenerator<readonly string[]> {
  let after: OpenSession | undefined;
  do {
    const page = await openSessions(pool, 0, after, PAGE);
    yield page.map(({ tenant_id, session_key }) => sessionWorkflowId(tenant_id, session_key));
    after = page.length < PAGE ? undefined : page.at(-1);
  } while (after);
}

/** Whether it ran on this machine and has ended: then nothing must be waited for. */
function hasEnded(other: WorkerRow, machine: string | null): boolean {
  if (machine === null || other.machine !== machine) return false;
  const row = processRow(Number.parseInt(other.process, 10));
  return row === undefined || !isAlive(row) || identityOf(row) !== other.process;
}

/** One boot of one machine, and one space of process ids on it; null where Linux's /proc is missing. */
function thisMachine(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}
