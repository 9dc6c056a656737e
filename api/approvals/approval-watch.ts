/**
 * Wakes the readers of a tenant's approvals when one of them may have changed. Readers of many sessions would otherwise
 * read the table after each event of any session: this asks once for all of them in this process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { approvalsVersion } from '#store/approvals/approval-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createNotifier } from '../notifier.ts';
import type { ApiDeps } from '../deps.ts';

/** How long a lost notification can delay a reader, in milliseconds. */
const POLL_MS = 2_000;

/** The least time between two queries, in milliseconds. */
const PAUSE_MS = 100;

export interface ApprovalWatch {
  /** Calls `wake` whenever approvals may have changed; returns a function that ends this. `wake` must not throw. */
  subscribe(tenant: string, wake: () => void): () => void;
}

interface Watched {
  readonly readers: Set<() => void>;
  /** Ends the watch of the tenant. */
  readonly end: () => void;
}

export function createApprovalWatch(
  { pool, feed }: Pick<ApiDeps, 'pool' | 'feed'>,
  onError: (error: unknown) => void,
): ApprovalWatch {
  const watched = new Map<string, Watched>();

  function watch(tenant: string): Watched {
    const bell = createNotifier();
    const unsubscribe = feed.subscribeAll(tenant, bell.ring);
    const readers = new Set<() => void>();
    const ended = new AbortController();
    let last: string | undefined;

    async function look(): Promise<void> {
      const version = await approvalsVersion(forTenant(pool, tenant));
      const isChanged = version !== last;
      last = version;
      if (isChanged) for (const wake of readers) wake();
    }

    async function untilEnded(): Promise<void> {
      for (;;) {
        await bell.wait(POLL_MS);
        if (ended.signal.aborted) return;
        await look().catch(onError);
        await sleep(PAUSE_MS);
      }
    }

    void untilEnded();
    const end = (): void => {
      ended.abort();
      unsubscribe();
      bell.ring();
    };
    return { readers, end };
  }

  return {
    subscribe(tenant, wake) {
      const one = watched.get(tenant) ?? watch(tenant);
      watched.set(tenant, one);
      one.readers.add(wake);
      return () => {
        one.readers.delete(wake);
        if (one.readers.size > 0 || watched.get(tenant) !== one) return;
        watched.delete(tenant);
        one.end();
      };
    },
  };
}
