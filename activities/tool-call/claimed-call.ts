/** A call that an attempt may run, and by which claim it holds it. */
import type { Claim } from '#store/call-claim.ts';

/** A call that may run. */
export type RunnableCall = Extract<Claim, { kind: 'run' }>;

/** A call that an attempt holds; its fence names the attempt. */
export interface ClaimedCall {
  readonly running: RunnableCall;
  readonly fence: string;
}
