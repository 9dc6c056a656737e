/** A call that an attempt may run, and its claim. */
import type { Claim } from '#store/turns/call-claim.ts';

/** A call that may run. */
export type RunnableCall = Extract<Claim, { kind: 'run' }>;

/** A call that an attempt has claimed; its fence identifies the attempt. */
export interface ClaimedCall {
  readonly running: RunnableCall;
  readonly fence: string;
}
