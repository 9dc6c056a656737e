/** Why a call that could not be claimed does not run, for the model (EX-4). */
import { exceededWords } from '#domain/budget/ask-for-more.ts';
import type { ToolErrorCode } from '#domain/errors.ts';
import type { Claim } from '#store/turns/call-claim.ts';

export type Unrun = Extract<Claim, { kind: 'lost' | 'refused' | 'limited' | 'over_budget' }>;

/** `perHour` is the limit of a session. */
export function skipReason(claim: Unrun, perHour: number): { code: ToolErrorCode; message: string } {
  if (claim.kind === 'lost')
    return {
      code: 'OutcomeUnknown',
      message:
        'an earlier attempt of this call began and its worker was lost. It may or may not have taken effect, and it is not run again by itself: find out, or ask.',
    };
  if (claim.kind === 'limited')
    return {
      code: 'RateLimited',
      message: `tool rate limit exceeded: ${perHour} actions/hour for key ${claim.session}; wait ${claim.seconds} s. The call has not run.`,
    };
  if (claim.kind === 'over_budget')
    return {
      code: 'BudgetExceeded',
      message: `${exceededWords(claim.exceeded)}. The call has not run.`,
    };
  switch (claim.status) {
    case 'over':
      return { code: 'Cancelled', message: 'the turn is over; the call has not run' };
    case 'expired':
      return {
        code: 'ApprovalExpired',
        message: 'nobody decided in time; the call has not run and will not',
      };
    case 'withdrawn':
      return { code: 'ApprovalWithdrawn', message: 'the approval was withdrawn; the call has not run' };
    default:
      return {
        code: 'ApprovalDenied',
        message: `there is no unused approval for exactly this call (${claim.status}); it has not run`,
      };
  }
}
