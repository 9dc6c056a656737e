/** What a run reports about signals that it has refused. */
import type { RefusedRequest } from './approval.ts';

/** Number of signals that changed nothing, and the last of them; a signal has no answer. */
export interface RefusedSignals {
  readonly refused: number;
  readonly last_refused: RefusedRequest;
}
