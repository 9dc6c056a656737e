/** How an assignment ended, for its row and for the waiting turn. Pure: the workflow and the rows provide the input. */
import type { FinishAssignmentInput } from '#domain/assignment/assignment.ts';
import { cutText } from '#domain/text/cut-text.ts';
import { syncDelegationText, whyNot } from '#domain/assignment/delegation-words.ts';
import { GATE_WORDS, gateWarnings } from '#domain/gate/gate.ts';
import { LOST_END } from '#domain/turn/lost-work.ts';
import { STEER_TEXT } from '#domain/assignment/subagent.ts';
import { syncResultText } from '#domain/assignment/subagent-words.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import type { AssignmentRow, WorkEnd } from '#store/assignments/assignment-store.ts';
import type { AssignmentEnd } from '#store/assignments/end-assignment.ts';
import type { GateRow } from '#store/teams/gate-store.ts';

type Call = AssignmentEnd['call'];

export function endOfWork(
  input: FinishAssignmentInput,
  row: AssignmentRow,
  work: WorkEnd | undefined,
  checks: readonly GateRow[],
): AssignmentEnd {
  if (input.lost) return LOST_END;
  const end = {
    status: input.status,
    // A subagent's parent may use its output from before it was ended.
    result: row.kind === 'subagent' || work?.status === 'completed' ? (work?.text ?? null) : null,
    error: errorOf(input, work, checks),
    warnings: input.status === 'completed' ? gateWarnings(checks) : [],
    by: input.by ?? null,
    silent: input.silent ?? false,
    next: nextOf(input, row),
  };
  const ended = { ...row, ...end, iterations: work?.iterations ?? 0 };
  return { ...end, call: row.kind === 'subagent' ? subagentCall(ended) : delegationCall(ended) };
}

function errorOf(
  { status, blocked, reason }: FinishAssignmentInput,
  work: WorkEnd | undefined,
  checks: readonly GateRow[],
): AssignmentEnd['error'] {
  if (status === 'cancelled' && reason !== undefined) return { code: 'Cancelled', message: reason };
  if (status !== 'failed') return null;
  if (blocked) {
    const check = checks.find(({ gate, attempt }) => gate === blocked.gate && attempt === blocked.attempt);
    const why = check?.feedback ?? 'it did not pass';
    const message = GATE_WORDS.blocked(check?.name ?? `${blocked.gate}`, why, blocked.attempt);
    return { code: 'GateBlocked', message };
  }
  return work?.error ?? { code: 'ExecutionFailed', message: reason ?? 'it ended without an answer' };
}

function nextOf({ next }: FinishAssignmentInput, { label }: AssignmentRow): AssignmentEnd['next'] {
  return (
    next && {
      id: next.id,
      label: `${label} (steered)`,
      task: next.message.slice(0, STEER_TEXT).toWellFormed(),
    }
  );
}

function subagentCall(row: AssignmentRow): Call {
  const name = `Subagent '${row.label}'`;
  switch (row.status) {
    case 'completed':
      return { ok: true, text: kept(`subagents/${row.id}`, syncResultText(row, row.result ?? '')) };
    case 'cancelled':
      return failed('Cancelled', `${name} was cancelled${withReason(row)}`);
    case 'timeout':
      return failed('Timeout', `${name} was ended after ${row.timeout_seconds} s.`);
    default: {
      const { code, message } = row.error ?? { code: 'ExecutionFailed', message: '' };
      const why = code === 'ExecutionFailed' ? message : `${code}: ${message}`;
      return failed('ExecutionFailed', `${name} failed: ${why}`);
    }
  }
}

function delegationCall(row: AssignmentRow): Call {
  switch (row.status) {
    case 'completed':
      return { ok: true, text: kept(`delegations/${row.id}`, syncDelegationText(row)) };
    case 'cancelled':
      return failed('Cancelled', `Delegation '${row.id}' was cancelled${withReason(row)}`);
    case 'timeout':
      return failed('Timeout', `agent "${row.target_key}" was ended after ${row.timeout_seconds} s.`);
    default:
      return failed('ExecutionFailed', `[Delegation to ${row.target_key} failed: ${whyNot(row)}]`);
  }
}

export function withReason({ error }: Pick<AssignmentRow, 'error'>): string {
  return error === null ? '.' : `: ${error.message}`;
}

export function failed(code: string, why: string): Call {
  return { ok: false, code, text: `${code}: ${why}` };
}

/** The part that a model reads; the HTTP API returns the whole. */
export function kept(path: string, text: string): string {
  return cutText(text, MODEL_RESULT_BYTES, `/v1/${path}`).text;
}
