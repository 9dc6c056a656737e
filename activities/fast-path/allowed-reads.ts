/** Calls that only look and are allowed by the newest rules: they need not ask the ledger what is just being written there. */
import type { AgentConfig } from '#domain/agent.ts';
import type { CallModelInput } from '#domain/turn.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { RunnableCall } from '../tool-call/claimed-call.ts';
import type { NewCall } from '#store/answer-record.ts';
import type { StepBasis } from '#store/step-basis.ts';

export interface AllowedRead {
  readonly id: string;
  readonly running: RunnableCall;
}

type Rules = Pick<StepBasis, 'context' | 'documents' | 'skills' | 'tenant_policy' | 'allowlist' | 'used'> & {
  readonly agent: AgentConfig;
};

export function allowedReads(
  catalog: Catalog,
  input: CallModelInput,
  basis: Rules & Pick<StepBasis, 'agent_current'>,
  calls: readonly NewCall[],
): AllowedRead[] {
  if (!basis.agent_current) return [];
  const reads = calls.filter(
    ({ verdict, tool }) => verdict === 'allow' && catalog.find(tool)?.tool.replay === 'readonly',
  );
  return reads.map((call) => ({ id: call.id, running: runnableCall(input, basis, call) }));
}

/** What a claim would give for an allowed call, by the rules of its step. */
export function runnableCall(
  { session, turn, step }: CallModelInput,
  { context, documents, skills, tenant_policy, allowlist, used, agent }: Rules,
  { tool, asked_as, summary, args, sealed, digest }: NewCall,
): RunnableCall {
  const place = { session, turn, step };
  const rules = { context, documents, skills, tenant_policy, agent, allowlist, used };
  const call = { tool, asked_as, summary, args, sealed: sealed ?? null, digest };
  return { kind: 'run', claimed: false, budgeted: false, approved: false, ...place, ...call, ...rules };
}
