/** The API's look at work whose workflow was ended from outside: whoever lists, reads or stops it sees that it is over. */
import { createLostWork, type LostWork } from '#temporal/lost-work.ts';
import type { StopSubagentsDeps } from '#temporal/stop-subagents.ts';
import { createSubagentStore } from '#store/subagent-store.ts';
import type { ApiDeps } from './deps.ts';

/** A list is worth no longer a wait for Temporal: it then says what the rows say. */
const LOOK_MS = 1_000;

type Needs = Pick<ApiDeps, 'pool' | 'notifier' | 'temporal'>;

export function lostWorkOf({ pool, notifier, temporal }: Needs): LostWork {
  return createLostWork({
    pool,
    onWrite: notifier.poke,
    reach: temporal,
    now: Date.now,
    lookMs: LOOK_MS,
  });
}

/** For `stopSubagent` and `stopSubagents`, which see what is lost as well. */
export function subagentsToStop(deps: Needs): StopSubagentsDeps {
  const { pool, notifier, temporal } = deps;
  return {
    subagents: createSubagentStore(pool, notifier.poke),
    reach: temporal,
    lost: lostWorkOf(deps).subagents,
  };
}
