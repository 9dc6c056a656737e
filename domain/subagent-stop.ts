/** How a subagent is stopped whose session may have begun before its own workflow: over that session. */
import { sessionWorkflowId, subagentMessageId, turnIdOf } from './ids.ts';
import { AGENT_TURN, type StopInput } from './turn.ts';

/** The signal: workflow id, name and payload. */
export function sessionStop(
  tenant: string,
  row: { readonly id: string; readonly session_key: string },
  by: string,
): readonly [workflowId: string, name: string, input: StopInput] {
  const turn_id = turnIdOf(subagentMessageId(row.id));
  return [sessionWorkflowId(tenant, row.session_key), AGENT_TURN.signals.stop, { level: 'all', turn_id, by }];
}
