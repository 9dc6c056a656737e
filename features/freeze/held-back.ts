/**
 * Which work the freezes in force hold back. They are in the memory of the worker: a call costs no query until its
 * tenant has a freeze. The change feed replaces them, within two seconds even when a notice is lost.
 */
import type { Guards, HeldBack, StartingWork } from '#activities/guards.ts';
import { matchesTool } from '#domain/policy/tool-groups.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurnOf, type FreezeRow, freezesInForce, noteHeld, type TurnOfWork } from './store.ts';

/** Greatest number of tenants in memory; then all are read again. */
const MAX_TENANTS = 10_000;

interface InForce {
  readonly freezes: Promise<readonly FreezeRow[]>;
  /** Aborts when they have changed. */
  readonly changed: AbortController;
  /** Turns and freezes whose readers know that the turn waits, so that a long wait writes nothing more. */
  readonly noted: Set<string>;
}

export function createHeldBack(pool: Pool, changes: Pick<ChangeFeed, 'subscribe'>): Guards['heldBack'] {
  const known = new Map<string, InForce>();
  const forget = (tenant: string): void => {
    known.get(tenant)?.changed.abort();
    known.delete(tenant);
  };
  const forgetAll = (): void => {
    for (const tenant of known.keys()) forget(tenant);
  };
  changes.subscribe('freezes', (tenant) => (tenant === undefined ? forgetAll() : forget(tenant)));

  function inForce(tenant: string): InForce {
    const found = known.get(tenant);
    if (found) return found;
    if (known.size >= MAX_TENANTS) forgetAll();
    const freezes = freezesInForce(forTenant(pool, tenant));
    const read: InForce = { freezes, changed: new AbortController(), noted: new Set() };
    known.set(tenant, read);
    // The next call reads again.
    read.freezes.catch(() => known.get(tenant) === read && forget(tenant));
    return read;
  }

  return async (work) => {
    const { freezes, changed, noted } = inForce(work.tenant);
    const candidates = (await freezes).filter(({ tools }) => tools === null || names(tools, work.tool));
    if (candidates.length === 0) return undefined;
    const db = forTenant(pool, work.tenant);
    const turn = await findTurnOf(db, work.of);
    const freeze = turn && candidates.find((one) => holds(one, turn));
    if (!freeze) return undefined;
    const note = async (): Promise<void> => {
      const key = `${turn.id} ${freeze.id}`;
      if (!noted.has(key)) await noteHeld(db, turn, freeze);
      noted.add(key);
    };
    return waitFor(freeze.reason, note, changed.signal);
  };
}

function names(patterns: readonly string[], tool: StartingWork['tool']): boolean {
  return tool !== undefined && patterns.some((pattern) => matchesTool(pattern, tool));
}

function holds({ agent, revision }: FreezeRow, turn: TurnOfWork): boolean {
  return (agent === null || agent === turn.agent) && (revision === null || revision === turn.revision);
}

function waitFor(reason: string, note: () => Promise<void>, changed: AbortSignal): HeldBack {
  return {
    reason: `held back: ${reason}`,
    async untilOver(signal) {
      await note();
      const over = AbortSignal.any([signal, changed]);
      if (!over.aborted)
        await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }));
    },
  };
}
