/**
 * Work whose workflow was ended from outside: terminated by an operator, or gone with the server's data. Its row is ended,
 * and its workflow is started once more, with `lost` in its input, only to tell those who wait.
 */

/** What is known of a workflow by its id; `missing`: none was ever there, or it is no longer kept. */
export type WorkflowState = 'running' | 'over' | 'missing';

/**
 * One whose workflow has not begun by then will not: the turn that was to start it is gone. Longer than workers are away, since
 * such a turn goes on when they come back.
 */
const START_PATIENCE_MS = 600_000;

export function isLost(state: WorkflowState, ageMs: number): boolean {
  return state === 'over' || (state === 'missing' && ageMs >= START_PATIENCE_MS);
}

const message = 'its workflow was ended from outside';

/** How such work ends, whatever it was. Who asked it to stop, if anybody did, stays in its row. */
export const LOST_END = {
  status: 'failed',
  result: null,
  error: { code: 'OutcomeUnknown', message },
  warnings: [],
  by: null,
  silent: false,
  call: { ok: false, code: 'OutcomeUnknown', text: `OutcomeUnknown: ${message}` },
} as const;
