/** Ends what a session has left running in which no turn runs; the end of a turn that runs does the same for its own. */
import type { TurnActivities } from '#domain/turn.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import type { Assignments } from '../assignments/assignments.ts';
import type { EndCommands } from '../process/end-commands.ts';

/** Safe to repeat: it looks for what still runs. */
export function createStopSession(deps: {
  readonly endCommands: EndCommands;
  readonly assignments: Pick<Assignments, 'stopAll'>;
}): TurnActivities['stop_session'] {
  return failingAs(recordFailure, async ({ tenant, session, by }) => {
    await Promise.all([deps.endCommands(tenant, session), deps.assignments.stopAll(tenant, session, by)]);
  });
}
