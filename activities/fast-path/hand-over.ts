/**
 * What one activity of this worker has read or written and the next one would ask the ledger for again: a planned call on
 * its way to its tool, and the basis of a step on its way from the last result to the model call.
 */
import type { RunToolResult } from '#domain/turn.ts';
import type { Claim } from '#store/call-claim.ts';
import type { StepBasis } from '#store/turn-ledger.ts';

export type Running = Extract<Claim, { kind: 'run' }>;

/** A step's basis, and how much of the transcript was known to who asked for it. */
export interface NextStep {
  readonly basis: StepBasis;
  readonly after: number;
  readonly summaryAfter: number;
}

/** Each is given once: a second attempt asks the ledger, which knows what became of the first. */
export interface HandOver {
  /** For calls that need no claim. */
  readonly calls: Shelf<Running>;
  /** Of calls that were recorded with the answer that asks for them (read-ahead.ts). */
  readonly results: Shelf<RunToolResult>;
  readonly steps: Shelf<NextStep>;
}

export interface Shelf<Item> {
  /** `readAt` (performance.now) is when the rules in it were read: they hold for a moment, then the ledger is asked. */
  put(key: string, item: Item, readAt: number): void;
  take(key: string): { readonly item: Item; readonly readAt: number } | undefined;
}

/** A rule that was changed so long ago holds for what is done now. */
export const FRESH_MS = 1_000;
/** More than a worker does at once; what is left over belongs to what another worker took. */
const MOST = 1_000;

export function createHandOver(now: () => number = () => performance.now()): HandOver {
  return { calls: createShelf(now), results: createShelf(now), steps: createShelf(now) };
}

export function callKey(tenant: string, call: string): string {
  return `${tenant}/${call}`;
}

export function stepKey(tenant: string, turn: string, step: number): string {
  return `${tenant}/${turn}/${step}`;
}

function createShelf<Item>(now: () => number): Shelf<Item> {
  const items = new Map<string, { readonly item: Item; readonly readAt: number }>();
  return {
    put(key, item, readAt) {
      // Put anew, a key is the youngest again.
      items.delete(key);
      items.set(key, { item, readAt });
      for (const [oldest, { readAt: since }] of items) {
        if (items.size <= MOST && now() - since < FRESH_MS) break;
        items.delete(oldest);
      }
    },
    take(key) {
      const found = items.get(key);
      items.delete(key);
      return found && now() - found.readAt < FRESH_MS ? found : undefined;
    },
  };
}
