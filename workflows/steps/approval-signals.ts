/** Signals to an approval: anyone who can reach Temporal can send any number of them. */
import { sleep } from '@temporalio/workflow';
import type { ApprovalInput } from '#domain/approval/approval.ts';
import { tokensIn } from '#domain/approval/decision-token.ts';
import type { Settled } from './approval-view.ts';
import { isNoted } from '#domain/approval/refused-signals.ts';

export interface ReceivedSignals {
  /** Number of signals that this run has received. */
  received: number;
  /** Number of signals that came too late. */
  late: number;
  /** Those that have to be looked up in the rows, the first of them at this moment. */
  readonly waiting: ReceivedSignal[];
}

type CountedSignals = ReceivedSignals & { readonly end?: Settled; unread: number; refused: number };

export interface ReceivedSignal {
  /** Why it cannot be read. */
  readonly problem: string | undefined;
  readonly payload: unknown;
  readonly verb: string;
}

/** After so many signals the workflow pauses for so many milliseconds. */
const PAUSE = { every: 10, ms: 50 };

/**
 * A signal without a token that cannot be read, or that decides nothing without a token, needs no look at the rows. Of
 * many, most are only counted.
 */
export function isOnlyCounted(
  progress: CountedSignals & { readonly input: ApprovalInput },
  problem: string | undefined,
  payload: unknown,
): boolean {
  progress.received += 1;
  const { token, bound } = progress.input;
  const needsToken = token === true || bound === true;
  if ((problem === undefined && !needsToken) || tokensIn(payload).length > 0) return false;
  progress.unread += 1;
  if (isNoted(progress.unread)) return false;
  progress.refused += 1;
  return true;
}

/**
 * Takes signals one after the other, so that an update waits for one of them at most; resolves when none waits. Returns
 * nothing when that runs already: thousands may come in one task, which must end within seconds, and promises take time.
 */
export function takeInTurn(
  progress: CountedSignals,
  signal: ReceivedSignal,
  take: (signal: ReceivedSignal) => Promise<void>,
): Promise<void> | void {
  if (progress.waiting.push(signal) === 1) return takeAll(progress, take);
}

async function takeAll(
  progress: CountedSignals,
  take: (signal: ReceivedSignal) => Promise<void>,
): Promise<void> {
  for (let taken = 1; ; taken += 1) {
    const [signal] = progress.waiting;
    if (!signal) return;
    if (!isOnlyLate(progress)) await take(signal);
    progress.waiting.shift();
    // A workflow receives updates with its next task only.
    if (taken % PAUSE.every === 0 && !progress.end) await sleep(PAUSE.ms);
  }
}

/** The approval is over, and no token is valid any more. */
function isOnlyLate(progress: CountedSignals): boolean {
  if (!progress.end) return false;
  progress.late += 1;
  if (isNoted(progress.late)) return false;
  progress.refused += 1;
  return true;
}
