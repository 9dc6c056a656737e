/**
 * Sends what is due, in each worker: it claims deliveries, makes the attempts and renews its claims meanwhile. Whoever
 * writes deliveries only says so; a look each half second finds what nobody has announced.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Claim,
  claimDeliveries,
  type DueEndpoint,
  failWaiting,
  LEASE_SECONDS,
  listDueEndpoints,
  renewClaims,
} from './store/delivery-queue-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';

/** Attempts under way in one process. */
const PLACES = 400;
/** Tenants whose deliveries are claimed at the same time. */
const TENANTS = 4;
const LOOK_MS = 500;
/** Two renewals may fail before a claim ends. */
const RENEW_MS = (LEASE_SECONDS * 1_000) / 3;

export interface Dispatcher {
  /** Looks for due deliveries now; during a look, another one follows. */
  look(): void;
  /** Claims nothing more, waits for what is under way, then stops it and leaves it to other processes. */
  close(): Promise<void>;
}

export interface DispatcherDeps {
  readonly pool: Pool;
  /** Makes and records one attempt. `signal` ends when the claim does; then the attempt records nothing. */
  attempt(db: TenantDb, claim: Claim, signal: AbortSignal): Promise<void>;
  onError(error: unknown): void;
  /** How long `close` waits. */
  readonly graceMs: number;
}

interface Attempt extends Claim {
  readonly tenant: string;
  readonly stop: AbortController;
  /** By `performance.now()`. */
  holdsUntil: number;
  readonly done: Promise<void>;
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { pool, onError } = deps;
  const underWay = new Set<Attempt>();
  let looking: Promise<void> | undefined;
  let isDueAgain = false;
  let isClosed = false;

  function look(): void {
    isDueAgain = looking !== undefined;
    if (isClosed || looking) return;
    looking = claimDue()
      .catch(onError)
      .finally(() => {
        looking = undefined;
        if (isDueAgain) look();
      });
  }

  async function claimDue(): Promise<void> {
    const free = PLACES - underWay.size;
    if (free <= 0) return;
    const due = [...Map.groupBy(await listDueEndpoints(pool), ({ tenant }) => tenant)];
    const share = Math.max(1, Math.floor(free / Math.max(1, due.length)));
    // It begins with any of them, so that no tenant is always the last to get a place.
    const from = Math.floor(Math.random() * due.length);
    const waiting = [...due.slice(from), ...due.slice(0, from)];
    await Promise.all(
      Array.from({ length: TENANTS }, async () => {
        for (let next = waiting.pop(); next; next = waiting.pop())
          // A tenant whose rows cannot be claimed now holds up no other.
          await claimOf(...next, share).catch(onError);
      }),
    );
  }

  async function claimOf(tenant: string, endpoints: readonly DueEndpoint[], share: number): Promise<void> {
    const db = forTenant(pool, tenant);
    for (const { webhook, enabled } of endpoints) if (!enabled) await failWaiting(db, webhook);
    const enabled = endpoints.filter((one) => one.enabled).map(({ webhook }) => webhook);
    if (enabled.length === 0 || isClosed || underWay.size >= PLACES) return;
    const holdsUntil = performance.now() + LEASE_SECONDS * 1_000;
    const { claims, hasMore } = await claimDeliveries(db, enabled, Math.min(share, PLACES - underWay.size));
    for (const claim of claims) begin(db, claim, holdsUntil);
    if (hasMore) look();
  }

  function begin(db: TenantDb, claim: Claim, holdsUntil: number): void {
    const stop = new AbortController();
    const done = deps
      .attempt(db, claim, stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) onError(error);
      })
      .finally(() => {
        underWay.delete(attempt);
        look();
      });
    const attempt: Attempt = { ...claim, tenant: db.tenant, stop, holdsUntil, done };
    underWay.add(attempt);
  }

  async function renew(): Promise<void> {
    const own = [...underWay];
    if (own.length === 0) return;
    const holdsUntil = performance.now() + LEASE_SECONDS * 1_000;
    try {
      const held = new Set((await renewClaims(pool, own)).map(({ tenant, id }) => `${tenant}/${id}`));
      for (const attempt of own)
        attempt.holdsUntil = held.has(`${attempt.tenant}/${attempt.id}`) ? holdsUntil : 0;
    } catch (error) {
      onError(error);
    }
    for (const attempt of own) if (attempt.holdsUntil < performance.now()) attempt.stop.abort();
  }

  const timers = [setInterval(look, LOOK_MS), setInterval(() => void renew(), RENEW_MS)];
  for (const timer of timers) timer.unref();
  return {
    look,
    async close() {
      isClosed = true;
      await looking;
      const all = Promise.all(Array.from(underWay, ({ done }) => done));
      await Promise.race([all, sleep(deps.graceMs, undefined, { ref: false })]);
      for (const timer of timers) clearInterval(timer);
      const stopped = [...underWay];
      for (const { stop } of stopped) stop.abort();
      await all;
      if (stopped.length > 0) await renewClaims(pool, stopped, 0).catch(onError);
    },
  };
}
