/**
 * Holds model calls and tool calls back before they start, for as long as a guard says so. A held call is an ordinary
 * activity that waits: it reserves and claims nothing, adds nothing to its workflow's history, and starts at once when
 * the guard lets it go.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { type Attempt, isStopped, STOPPED } from './attempt.ts';
import type { Guards, StartingWork } from './guards.ts';

/** One attempt waits no longer than this: the activity of a tool may take at least 30 s. */
const PATIENCE_MS = 20_000;

/** Greatest number of held calls in this process, so that they do not take the places of others. */
const MAX_WAITING = 200;

/** After this time and up to twice as long, a call that found no place to wait asks again. */
const AGAIN_MS = 5_000;

export interface StartGate {
  /**
   * Resolves at once when the work may start. @throws ApplicationFailure Held, retryable, after the wait: the next
   * attempt has all of its time for the work. @throws CancelledFailure when the turn is stopped meanwhile
   */
  pass(work: StartingWork, attempt: Pick<Attempt, 'signal'>): Promise<void>;
  isOpen(work: StartingWork): Promise<boolean>;
}

export function createStartGate(guards: Pick<Guards, 'heldBack'>): StartGate {
  let waiting = 0;
  return {
    isOpen: async (work) => (await guards.heldBack(work)) === undefined,
    async pass(work, { signal }) {
      const held = await guards.heldBack(work);
      if (!held) return;
      let again = AGAIN_MS * (1 + Math.random());
      if (waiting < MAX_WAITING) {
        waiting += 1;
        try {
          await held.untilOver(AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
        } finally {
          waiting -= 1;
        }
        again = 1;
      }
      if (isStopped(signal)) throw new CancelledFailure(STOPPED);
      throw ApplicationFailure.create({
        type: 'Held',
        message: held.reason,
        nextRetryDelay: again,
        // It is a wait: the worker neither warns of it nor counts it among failures.
        category: ApplicationFailureCategory.BENIGN,
      });
    },
  };
}
