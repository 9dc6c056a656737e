/** How rounds of making and judging ended, for their row and for the waiting turn. */
import type { FinishAssignmentInput } from '#domain/assignment/assignment.ts';
import { LOST_END } from '#domain/turn/lost-work.ts';
import type { AssignmentRow } from '#store/assignments/assignment-store.ts';
import type { AssignmentEnd } from '#store/assignments/end-assignment.ts';
import { failed, kept, withReason } from '#activities/assignments/assignment-end.ts';
import { EVALUATE_WORDS } from './contract.ts';
import type { RoundRow } from './store.ts';

export function endOfEvaluation(
  input: FinishAssignmentInput,
  row: AssignmentRow,
  rounds: readonly RoundRow[],
): AssignmentEnd {
  if (input.lost) return LOST_END;
  const { draft, feedback } = rounds.at(-1) ?? { draft: '', feedback: '' };
  const end = (call: AssignmentEnd['call'], error: AssignmentEnd['error'] = null): AssignmentEnd => ({
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
      return {
        ...end({ ok: true, text: EVALUATE_WORDS.approved(rounds.length, draft) }),
        // The drafts are in the rounds; the task gets this.
        result: row.linked_task && draft,
      };
    case 'not_approved':
      return end({ ok: true, text: EVALUATE_WORDS.exhausted(rounds.length, feedback ?? '', draft) });
    case 'cancelled': {
      const error = input.reason === undefined ? null : { code: 'Cancelled', message: input.reason };
      const words = `the evaluate loop was stopped after ${rounds.length} round(s)${withReason({ error })}`;
      return end(failed('Cancelled', words), error);
    }
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
