/**
 * Work whose workflow was ended from outside: an operator terminated it, or the server's data was lost. Its row is
 * ended. Its workflow starts once more with `lost` in its input, only to notify waiting workflows.
 */

/** What is known about a workflow by its id; `missing`: it never existed, or it is no longer kept. */
export type WorkflowState = 'running' | 'over' | 'missing';

/**
 * A workflow that has not started by then will not start: the turn that was to start it is gone. This is longer than
 * workers are usually away, because such a turn continues when they come back.
 */
const START_PATIENCE_MS = 600_000;

export function isLost(state: WorkflowState, ageMs: number): boolean {
  return state === 'over' || (state === 'missing' && ageMs >= START_PATIENCE_MS);
}

const message = 'its workflow was ended from outside';

/** How such work ends, whatever its kind is. Its row keeps the name of a person who requested a stop. */
export const LOST_END = {
  status: 'failed',
  result: null,
  error: { code: 'OutcomeUnknown', message },
  warnings: [],
  by: null,
  silent: false,
  call: { ok: false, code: 'OutcomeUnknown', text: `OutcomeUnknown: ${message}` },
} as const;
