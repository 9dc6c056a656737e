/** Ends what a session has left running in which no turn runs; the end of a turn that runs does the same for its own. */
import type { TurnActivities } from '#domain/turn.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import type { DelegationDesk } from '../assignments/delegation-desk.ts';
import type { EndCommands } from '../process/end-commands.ts';
import type { SubagentDesk } from '../assignments/subagent-desk.ts';

/** Safe to repeat: it looks for what still runs. */
export function createStopSession(deps: {
  readonly endCommands: EndCommands;
  readonly subagents: Pick<SubagentDesk, 'stopAll'>;
  readonly delegations: Pick<DelegationDesk, 'stopAll'>;
}): TurnActivities['stop_session'] {
  return failingAs(recordFailure, async ({ tenant, session, by }) => {
    await Promise.all([
      deps.endCommands(tenant, session),
      deps.subagents.stopAll(tenant, session, by),
      deps.delegations.stopAll(tenant, session, by),
    ]);
  });
}
