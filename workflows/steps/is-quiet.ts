/** Whether a run may continue as new now. */
import { condition } from '@temporalio/workflow';

/** Longer than messages of a flood are apart, and too short to be noticed. */
const QUIET = '200 milliseconds';

/**
 * Resolves to true when no message arrives for a moment. The server refuses the end of a run that has just got another
 * message, and repeats the task with all that came since: in a flood that grows until a task cannot be done in time. It
 * takes 10,000 signals of a run, so every flood has an end. `received` counts all messages, also refused ones.
 */
export async function isQuiet(received: () => number): Promise<boolean> {
  const seen = received();
  return !(await condition(() => received() !== seen, QUIET));
}
