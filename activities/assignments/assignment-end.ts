/** How an assignment ended, for its row and for the waiting turn. Pure: the workflow and the rows provide the input. */
import type { FinishAssignmentInput } from '#domain/assignment/assignment.ts';
import { cutText } from '#domain/text/cut-text.ts';
import { syncDelegationText, whyNot } from '#domain/assignment/delegation-words.ts';
import { EVALUATE_WORDS } from '#domain/assignment/evaluate-loop.ts';
import { GATE_WORDS, gateWarnings } from '#domain/gate/gate.ts';
import { LOST_END } from '#domain/turn/lost-work.ts';
import { STEER_TEXT } from '#domain/assignment/subagent.ts';
import { syncResultText } from '#domain/assignment/subagent-words.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import type { AssignmentRow, RoundRow, WorkEnd } from '#store/assignments/assignment-store.ts';
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
      return failed('Cancelled', `${name} was cancelled.`);
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
      return failed('Cancelled', `Delegation '${row.id}' was cancelled.`);
    case 'timeout':
      return failed('Timeout', `agent "${row.target_key}" was ended after ${row.timeout_seconds} s.`);
    default:
      return failed('ExecutionFailed', `[Delegation to ${row.target_key} failed: ${whyNot(row)}]`);
  }
}

export function endOfEvaluation(
  input: FinishAssignmentInput,
  row: AssignmentRow,
  rounds: readonly RoundRow[],
): AssignmentEnd {
  if (input.lost) return LOST_END;
  const { draft, feedback } = rounds.at(-1) ?? { draft: '', feedback: '' };
  const end = (call: Call, error: AssignmentEnd['error'] = null): AssignmentEnd => ({
    status: input.status,
    result: null,
    error,
    warnings: [],
    by: input.by ?? null,
    silent: false,
    call: { ...call, text: kept(`evaluations/${row.id}`, call.text) },
  });
  switch (input.status) {
    case 'approved':
      return end({ ok: true, text: EVALUATE_WORDS.approved(rounds.length, draft) });
    case 'not_approved':
      return end({ ok: true, text: EVALUATE_WORDS.exhausted(rounds.length, feedback ?? '', draft) });
    case 'cancelled':
      return end(failed('Cancelled', `the evaluate loop was stopped after ${rounds.length} round(s).`));
    default: {
      const message = whoFailed(input, row);
      const last = rounds.length > 0 ? `\n\nLast output:\n${draft}` : '';
      return end(failed('ExecutionFailed', `${message}${last}`), { code: 'ExecutionFailed', message });
    }
  }
}

function whoFailed({ failed: who }: FinishAssignmentInput, { target_key, details }: AssignmentRow): string {
  const { role = 'generator', round = 1, why = 'no reason is known' } = who ?? {};
  const agent = role === 'generator' ? target_key : (details?.evaluator ?? '');
  return EVALUATE_WORDS.failed(role, agent, round, why);
}

function failed(code: string, why: string): Call {
  return { ok: false, code, text: `${code}: ${why}` };
}

/** The part that a model reads; the HTTP API returns the whole. */
function kept(path: string, text: string): string {
  return cutText(text, MODEL_RESULT_BYTES, `/v1/${path}`).text;
}
