/** What a run says of signals that it has refused. */
import type { RefusedRequest } from './approval.ts';

/** Signals that changed nothing: they have no answer. */
export interface RefusedSignals {
  readonly refused: number;
  readonly last_refused: RefusedRequest;
}
