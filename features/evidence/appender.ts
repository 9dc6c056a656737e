/**
 * Looks each second for rows that wait for the chain, and for heads that anchors lack. Every worker does; a tenant's
 * chain is appended to by one at a time, and a head that two deliver is the same.
 */
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';
import { claimAnchors, recordAnchored, recordUnanchored } from './anchor-store.ts';
import type { OpenAnchor } from './anchors.ts';
import { appendBatch } from './append.ts';
import { readHead, tenantsWaiting } from './store.ts';

export interface AppenderDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly anchors: readonly OpenAnchor[];
  readonly anchorSeconds: number;
  onError(error: unknown, what: 'recorded' | 'anchored'): void;
}

const LOOK_MS = 1_000;
/** A tenant whose chain cannot go on is tried again this much later. */
const PAUSE_MS = 60_000;
/** Characters of a problem that the rows keep. */
const MAX_PROBLEM = 500;

export function createAppender(deps: AppenderDeps): { close(): Promise<void> } {
  const { pool, sealer, anchors, anchorSeconds, onError } = deps;
  const paused = new Map<string, number>();
  let isClosed = false;
  let looking: Promise<void> | undefined;

  async function append(): Promise<void> {
    const tenants = await tenantsWaiting(pool);
    // A batch of each in turn, so that none waits for another's backlog.
    for (const tenant of tenants) {
      if (isClosed) return;
      if ((paused.get(tenant) ?? 0) > performance.now()) continue;
      paused.delete(tenant);
      try {
        await appendBatch(forTenant(pool, tenant), sealer, false);
      } catch (error) {
        paused.set(tenant, performance.now() + PAUSE_MS);
        onError(error, 'recorded');
      }
    }
  }

  async function anchorHeads(): Promise<void> {
    for (const anchor of anchors)
      for (const tenant of await claimAnchors(pool, anchor.name)) {
        if (isClosed) return;
        await anchorHead(anchor, tenant);
      }
  }

  async function anchorHead(anchor: OpenAnchor, tenant: string): Promise<void> {
    const db = forTenant(pool, tenant);
    const found = await readHead(db);
    if (!found) return;
    const { sealed: _sealed, ...head } = found;
    try {
      await anchor.put(head);
    } catch (error) {
      onError(error, 'anchored');
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, MAX_PROBLEM);
      return recordUnanchored(db, anchor.name, problem);
    }
    await recordAnchored(db, anchor.name, head.seq, anchorSeconds);
  }

  function look(): void {
    looking ??= append()
      .catch((error: unknown) => onError(error, 'recorded'))
      .then(() => anchorHeads())
      .catch((error: unknown) => onError(error, 'anchored'))
      .finally(() => {
        looking = undefined;
      });
  }

  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await looking;
    },
  };
}
