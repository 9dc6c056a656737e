/** What the workflows of work that an agent gives another are started with, made from their rows. */
import type { DelegationInput } from '#domain/delegation.ts';
import type { EvaluateLoopInput } from '#domain/evaluate-loop.ts';
import { shownGates } from '#domain/gate.ts';
import { delegationMessageId, subagentMessageId } from '#domain/ids.ts';
import type { SubagentInput } from '#domain/subagent.ts';
import type { DelegationRow } from '#store/delegation-store.ts';
import type { EvaluationRow } from '#store/evaluation-store.ts';
import type { SubagentRow } from '#store/subagent-store.ts';

/** What the workflow of a subagent is started with. */
export function subagentInput(tenant: string, row: SubagentRow): SubagentInput {
  return {
    tenant,
    subagent_id: row.id,
    session_key: row.session_key,
    message_id: subagentMessageId(row.id),
    parent_session: row.parent_session,
    label: row.label,
    agent: row.agent_key,
    user: row.user_id ?? undefined,
    timeout_seconds: row.timeout_seconds,
    begins_in_session: true,
  };
}

/** What the workflow of a delegation is started with; `hide` scrubs what rows need not. */
export function delegationInput(
  tenant: string,
  row: DelegationRow,
  hide: (text: string) => string,
): DelegationInput {
  return {
    tenant,
    delegation_id: row.id,
    session_key: row.session_key,
    message_id: delegationMessageId(row.id),
    parent_session: row.origin_session,
    source: row.source_key,
    target: row.target_key,
    label: row.label,
    user: row.user_id ?? undefined,
    timeout_seconds: row.timeout_seconds,
    gates: shownGates(row.gates, hide),
  };
}

/** What the workflow of an evaluation is started with. */
export function evaluationInput(tenant: string, row: EvaluationRow): EvaluateLoopInput {
  return {
    tenant,
    evaluation_id: row.id,
    generator: row.generator_key,
    evaluator: row.evaluator_key,
    rounds: row.max_rounds,
    label: row.label,
    user: row.user_id ?? undefined,
  };
}
