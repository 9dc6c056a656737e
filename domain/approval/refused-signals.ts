/** What a run reports about signals that it has refused. */
import type { RefusedRequest } from './approval.ts';

const NOTED = { first: 20, every: 100 };

/**
 * Whether the refused signal with this number, from 1, is recorded in rows: the first ones one by one, then each
 * hundredth with the number of all. Anyone who can reach Temporal can send any number of them, and each record takes the
 * workflow's time from messages that change something.
 */
export function isNoted(number: number): boolean {
  return number <= NOTED.first || number % NOTED.every === 0;
}

/** Number of signals that changed nothing, and the last of them; a signal has no answer. */
export interface RefusedSignals {
  readonly refused: number;
  readonly last_refused: RefusedRequest;
}
