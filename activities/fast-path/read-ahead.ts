/**
 * Runs calls that only look before the answer that asks for them is recorded, so that they are recorded with it: one commit
 * a step in place of two. Their activities, which follow, give what is recorded. A process that dies here has changed nothing,
 * and the step asks its model again, as it does when it dies a moment earlier.
 */
import type { Catalog } from '#policy/catalog.ts';
import { FRESH_MS, type Running } from './hand-over.ts';
import { perform, type PerformDeps, type ShownResult, shownResult } from '../tool-call/perform-tool.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import { within } from './within.ts';

/** Undefined when it is not to be done, or took too long: then nothing has happened. */
export type ReadAhead = (asked: {
  readonly tenant: string;
  readonly catalog: Catalog;
  /** All calls of the answer, each allowed by rules that were read at `readAt` (performance.now()). */
  readonly calls: readonly { readonly id: string; readonly running: Running }[];
  readonly readAt: number;
  readonly signal: AbortSignal;
}) => Promise<ReadonlyMap<string, ShownResult> | undefined>;

/** The answer is not held back for longer. */
const MOST_MS = 50;
const MOST_CALLS = 8;

export function createReadAhead(
  parts: ForAnyTenant<PerformDeps>,
  rateLimit: { readonly perHour: number },
): ReadAhead {
  return async ({ tenant, catalog, calls, readAt, signal }) => {
    // Every call takes its token from the bucket, and the ledger has that.
    if (rateLimit.perHour > 0 || calls.length === 0 || calls.length > MOST_CALLS) return undefined;
    if (performance.now() - readAt > FRESH_MS - MOST_MS) return undefined;
    const tools = calls.map(({ running }) => catalog.find(running.tool)?.tool);
    if (!tools.every((tool) => tool?.limits.instant && tool.replay === 'readonly')) return undefined;

    const deps = await forTenant<PerformDeps>(parts, tenant);
    const late = new AbortController();
    const over = AbortSignal.any([signal, late.signal]);
    const all = calls.map(async ({ id, running }, index): Promise<[string, ShownResult]> => {
      const tool = tools[index];
      if (!tool) throw new Error(`no tool ${running.tool}`);
      const began = performance.now();
      const result = await perform(deps, tool, { tenant, call: id }, running, over);
      // Only of what was approved, and nothing was.
      if ('changed' in result) throw new Error(`files of ${running.tool} were bound`);
      return [id, shownResult(deps, id, running, result, performance.now() - began)];
    });
    const results = await within(MOST_MS, Promise.all(all));
    late.abort();
    if (!results || signal.aborted) return undefined;
    // What is kept beside a result has a row of its own.
    return results.some(([, shown]) => shown.whole !== undefined || shown.child)
      ? undefined
      : new Map(results);
  };
}
