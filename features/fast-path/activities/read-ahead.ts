/**
 * Runs calls that only read before their answer is recorded, so that they are recorded with it: one commit per step in
 * place of two. Their activities, which follow, return what is recorded. A process that dies here has changed nothing,
 * and the step calls its model again, as it does when it dies a moment earlier.
 */
import { perform, type PerformDeps } from '#activities/tool-call/perform-tool.ts';
import { type ShownResult, shownResult } from '#activities/tool-call/shown-result.ts';
import type { AllowedRead } from './allowed-reads.ts';
import type { AnswerToRecord } from '#activities/turn/step-engine.ts';
import { FRESH_MS } from './one-time-cache.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';

/** The answer is not delayed longer than this. */
const MAX_MS = 50;
const MAX_CALLS = 8;

/**
 * Results by call; undefined when it is not permitted or took too long: then nothing has changed. Only for an answer
 * whose calls are all `reads`, and which reserves nothing, because a settlement locks accounts.
 */
export async function readAhead(
  deps: PerformDeps,
  { step, plan }: AnswerToRecord,
  reads: readonly AllowedRead[],
): Promise<ReadonlyMap<string, ShownResult> | undefined> {
  const { tenant, catalog, attempt } = step;
  if (step.budget || reads.length !== plan.calls.length) return undefined;
  if (reads.length === 0 || reads.length > MAX_CALLS) return undefined;
  if (performance.now() - step.readAt > FRESH_MS - MAX_MS) return undefined;
  const tools = reads.map(({ running }) => catalog.find(running.tool)?.tool);
  if (!tools.every((tool) => tool?.limits.instant && tool.replay === 'readonly')) return undefined;

  const late = new AbortController();
  const ended = AbortSignal.any([attempt.signal, late.signal]);
  const all = reads.map(async ({ id, running }, index): Promise<[string, ShownResult]> => {
    const tool = tools[index];
    if (!tool) throw new Error(`no tool ${running.tool}`);
    const began = performance.now();
    const result = await perform(deps, tool, { tenant, call: id }, running, ended);
    // This happens only for approved calls, and none was approved.
    if ('changed' in result) throw new Error(`files of ${running.tool} were bound`);
    return [id, shownResult(deps, id, running, result, performance.now() - began)];
  });
  // Postgres may be unavailable: their activities wait for it.
  const results = await withTimeout(MAX_MS, Promise.all(all)).catch(() => undefined);
  late.abort();
  if (!results || attempt.signal.aborted) return undefined;
  // Output stored beside a result has its own row.
  const isMore = results.some(
    ([, { whole, images, child, read }]) => whole !== undefined || images || child || read,
  );
  return isMore ? undefined : new Map(results);
}
