/** What was decided about a guarded call, from its row and that of its question. */
import type { DECISIONS } from './resource.ts';
import type { GuardedCallRow } from './store.ts';

type Judged = Pick<GuardedCallRow, 'verdict' | 'reason' | 'question' | 'outcome'>;

export function decisionOf({ verdict, question, outcome }: Judged): (typeof DECISIONS)[number] {
  if (verdict !== 'ask') return verdict === 'allow' ? 'allowed' : 'denied';
  switch (question?.status) {
    case 'approved':
      return 'allowed';
    case 'responded':
      return 'answered';
    case 'pending':
      // Its program waits no longer.
      return outcome === null ? 'waiting' : 'denied';
    default:
      return 'denied';
  }
}

/** In words that a model can act on. */
export function reasonOf({ verdict, reason, question }: Judged): string | null {
  if (verdict !== 'ask') return reason;
  switch (question?.status) {
    case 'denied':
      return `${question.by ?? 'somebody'} denied the call${question.note ? `: ${question.note}` : ''}`;
    case 'expired':
      return 'nobody decided about the call in time';
    case 'withdrawn':
      return 'the question about the call was withdrawn';
    case undefined:
      return 'the question about the call is no longer there';
    default:
      return reason;
  }
}
