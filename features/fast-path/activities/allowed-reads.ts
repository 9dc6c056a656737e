/**
 * Calls that only read, have no result yet and are allowed by the newest rules: they need not query the ledger for what
 * was just written.
 */
import type { RunnableCall } from '#activities/tool-call/claimed-call.ts';
import type { NewCall } from '#store/turns/answer-record.ts';
import type { Step } from '#activities/turn/step.ts';

export interface AllowedRead {
  readonly id: string;
  readonly running: RunnableCall;
}

export function allowedReads(step: Step, calls: readonly NewCall[]): AllowedRead[] {
  if (!step.agent_current) return [];
  const reads = calls.filter(
    ({ verdict, tool, state }) =>
      verdict === 'allow' && state === undefined && step.catalog.find(tool)?.tool.replay === 'readonly',
  );
  return reads.map((call) => ({ id: call.id, running: runnableCall(step, call) }));
}

/** What a claim would return for an allowed call, by the rules of its step. */
export function runnableCall(
  { session, turn, step, context, documents, skills, tenant_policy, allowlist, used, agent }: Step,
  { tool, called_as, summary, args, sealed, digest }: NewCall,
): RunnableCall {
  const place = { session, turn, step };
  const rules = { context, documents, skills, tenant_policy, agent, allowlist, used };
  const call = { tool, called_as, summary, args, sealed: sealed ?? null, digest };
  return { kind: 'run', claimed: false, budgeted: false, approved: false, ...place, ...call, ...rules };
}
