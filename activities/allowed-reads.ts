/** Calls that only read and are allowed by the newest rules: they need not ask the ledger what is just being written there. */
import type { AgentConfig } from '#domain/agent.ts';
import type { CallModelInput } from '#domain/turn.ts';
import type { Catalog } from './catalog.ts';
import type { Running } from './hand-over.ts';
import type { NewCall } from './store/answer-record.ts';
import type { StepBasis } from './store/turn-ledger.ts';

export interface AllowedRead {
  readonly id: string;
  readonly running: Running;
}

export function allowedReads(
  catalog: Catalog,
  { session, turn, step }: CallModelInput,
  { agent_current, context, tenant_policy, allowlist, agent }: StepBasis & { readonly agent: AgentConfig },
  calls: readonly NewCall[],
): AllowedRead[] {
  if (!agent_current) return [];
  const reads = calls.filter(
    (call) => call.verdict === 'allow' && catalog.find(call.tool)?.tool.replay === 'readonly',
  );
  return reads.map(({ id, tool, asked_as, summary, args, sealed = null, digest }) => {
    const place = { session, turn, step };
    const rules = { context, tenant_policy, agent, allowlist };
    const call = { tool, asked_as, summary, args, sealed, digest };
    const running = { kind: 'run', claimed: false, budgeted: false, approved: false } as const;
    return { id, running: { ...running, ...place, ...call, ...rules } };
  });
}
