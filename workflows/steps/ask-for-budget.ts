/** At the limit of a budget, the turn waits for people to allow more, as it waits for any approval (DU-7). */
import { CancellationScope, CancelledFailure, isCancellation } from '@temporalio/workflow';
import type { CallModelResult } from '#domain/turn/turn-activities.ts';
import { askForApproval, type CallSurroundings } from './run-calls.ts';

type Asking = Extract<CallModelResult, { kind: 'budget' }>;

/**
 * Undefined when more was allowed; otherwise why the turn ends. Rejects only when the turn is cancelled or by a bug.
 */
export async function askForBudget(
  { call, message }: Asking,
  around: Pick<CallSurroundings, 'tenant' | 'sessionKey' | 'turnId' | 'onChange' | 'questions'>,
): Promise<string | undefined> {
  if (!call.approval) return message;
  around.onChange(call, 'waiting');
  try {
    const outcome = await askForApproval(call, call.approval, around);
    // A stopped turn withdraws its question, which then ends like any other.
    if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the turn was stopped');
    if (outcome.kind !== 'settled') return message;
    if (outcome.status === 'approved') return undefined;
    return `${message}; more was asked for and ${WORDS[outcome.status] ?? 'not allowed'}`;
  } catch (error) {
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) throw error;
    if (!(error instanceof Error && error.name === 'ChildWorkflowFailure')) throw error;
    return `${message}; the question for more was ended in Temporal`;
  } finally {
    around.onChange(call, 'over');
  }
}

const WORDS: Readonly<Record<string, string>> = {
  denied: 'denied',
  expired: 'nobody decided in time',
  withdrawn: 'withdrawn',
};
