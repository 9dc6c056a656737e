/** Inputs of the workflows of assignments, made from their rows. */
import { ASSIGNMENT, type AssignmentInput } from '#domain/assignment/assignment.ts';
import { shownGates } from '#domain/gate/gate.ts';
import { assignmentMessageId, assignmentWorkflowId } from '#domain/ids.ts';
import type { ChildStart } from '#domain/turn/turn-activities.ts';
import type { WorkflowStart } from '#domain/workflow-reach.ts';
import type { AssignmentRow } from '#store/assignments/assignment-store.ts';

/** `hide` scrubs texts that rows need not hide. */
export function assignmentInput(
  tenant: string,
  row: AssignmentRow,
  hide: (text: string) => string,
): AssignmentInput {
  return {
    tenant,
    id: row.id,
    session_key: row.session_key,
    message_id: assignmentMessageId(row.id),
    source: row.source_key,
    target: row.target_key,
    label: row.label,
    user: row.user_id ?? undefined,
    timeout_seconds: row.timeout_seconds,
    gates: shownGates(row.gates, hide),
    has_task: row.linked_task ? true : undefined,
  };
}

/** Rounds of making and judging, which a feature runs. */
function evaluationInput(tenant: string, row: AssignmentRow) {
  return {
    tenant,
    id: row.id,
    generator: row.target_key,
    evaluator: row.details?.evaluator ?? '',
    rounds: row.details?.max_rounds ?? 0,
    label: row.label,
    user: row.user_id ?? undefined,
    has_task: row.linked_task ? (true as const) : undefined,
  };
}

/** The child workflow that the giving turn starts. */
export function assignmentChild(
  tenant: string,
  row: AssignmentRow,
  hide: (text: string) => string,
): ChildStart {
  const { kind } = row;
  const input = kind === 'evaluation' ? evaluationInput(tenant, row) : assignmentInput(tenant, row, hide);
  return {
    type: ASSIGNMENT.types[kind],
    id: assignmentWorkflowId(kind, row.id),
    input: { ...input },
    wait: row.mode === 'sync',
    labels: labelsOf(tenant, row),
  };
}

/** Starts it again after its workflow was ended from outside, only to record that and to announce it. */
export function lostAssignmentStart(tenant: string, row: AssignmentRow): WorkflowStart {
  // No gate judges it, so the gates' texts, which would have to be hidden, are left out.
  const { type, id, input } = assignmentChild(tenant, { ...row, gates: [] }, (text) => text);
  const summary = `${row.kind} of ${row.target_key}: ${row.label}`;
  return { type, id, input: { ...input, lost: true }, summary, ...labelsOf(tenant, row) };
}

function labelsOf(tenant: string, row: AssignmentRow) {
  return {
    tenant,
    session: row.kind === 'evaluation' ? row.origin_session : row.session_key,
    agent: row.kind === 'evaluation' ? row.source_key : row.target_key,
    user: row.user_id ?? undefined,
  };
}
