/** Ends turns: one that has run, lost ones, and what a session without a turn has left running. */
import { Context } from '@temporalio/activity';
import { Failure } from '#domain/errors.ts';
import { LOST_END } from '#domain/turn/lost-work.ts';
import type { EndTurnInput, TurnActivities } from '#domain/turn/turn-activities.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import type { Assignments } from '../assignments/assignments.ts';
import type { ReleaseAnswer } from '../gates/gate-run.ts';
import type { EndCommands } from '../process/end-commands.ts';
import type { StepEngine } from './step-engine.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { hideTexts, type ScrubberOf } from '#store/secrets/scrubber.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { TeamBoard } from '#temporal/team-board.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { lostTurns } from '#store/turns/turn-store.ts';

export interface EndTurnDeps {
  readonly ledger: TurnLedger;
  readonly engine: Pick<StepEngine, 'endDetached'>;
  readonly endCommands: EndCommands;
  readonly assignments: Pick<Assignments, 'stopAll'>;
  readonly releaseTasks: TeamBoard['releaseTasks'];
  /** Whether work that the session has given away is still unanswered there. */
  readonly hasPending: (tenant: string, session: string) => Promise<boolean>;
  readonly releaseAnswer: ReleaseAnswer;
  readonly defaultAgent: string;
  readonly scrubberOf: ScrubberOf;
}

/**
 * The one record of a turn's end, in any way: open calls are settled, waiting approvals withdrawn, readers notified.
 */
export function createEndTurn(deps: EndTurnDeps): TurnActivities['end_turn'] {
  return failingAs(recordFailure, async (input) => {
    await deps.engine.endDetached(input.tenant, input.turn);
    // This comes before the record, so that readers of `stopped` may rely on it.
    if (input.endCommands) await deps.endCommands(input.tenant, input.session);
    if (input.endAssignments)
      await deps.assignments.stopAll(input.tenant, input.session, input.by ?? 'system');
    if (input.releaseAnswer !== undefined) await deps.releaseAnswer({ ...input, step: input.releaseAnswer });
    const end = await hidden(deps.scrubberOf, input);
    const runId = Context.current().info.workflowExecution?.runId ?? '';
    const status = await deps.ledger.endTurn(end, deps.defaultAgent, runId).catch(passNoTenant);
    if (input.releaseTasks) await deps.releaseTasks(input.tenant, input.turn);
    const isPending = input.isAssigned === true && (await deps.hasPending(input.tenant, input.session));
    return { status, isPending };
  });
}

/** Without the tenant there is nothing to record, and a retry does not help. */
function passNoTenant(error: unknown): null {
  if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
  return null;
}

/** Messages that no model call has read may still contain their text. */
async function hidden(scrubberOf: ScrubberOf, input: EndTurnInput): Promise<EndTurnInput> {
  const { messages, dropped } = input;
  if (!messages && !dropped) return input;
  const scrubber = await scrubberOf(input.tenant);
  return {
    ...input,
    messages: messages && hideTexts(scrubber, messages),
    dropped: dropped?.map((turn) => ({ ...turn, messages: hideTexts(scrubber, turn.messages) })),
  };
}

/** A younger waiting turn may still be on its way to its session. */
const ON_ITS_WAY_SECONDS = 60;

/**
 * Ends the turns of a session whose runs were ended from outside, and what they have left running, as a stop would.
 * Only for a run of the session that has started no turn yet: then nothing of it runs. Safe to repeat.
 */
export function createEndLostTurns(
  pool: Pool,
  endTurn: TurnActivities['end_turn'],
): TurnActivities['end_lost_turns'] {
  return failingAs(recordFailure, async ({ tenant, session }) => {
    for (const { id, is_last } of await lostTurns(forTenant(pool, tenant), session, ON_ITS_WAY_SECONDS))
      await endTurn({
        tenant,
        session,
        turn: id,
        step: 0,
        status: 'failed',
        error: LOST_END.error,
        by: 'system',
        releaseTasks: true,
        ...(is_last ? { endCommands: true, endAssignments: true } : {}),
      });
  });
}

/** Ends what a session without a running turn has left running. Safe to repeat: it searches for what still runs. */
export function createStopSession(
  deps: Pick<EndTurnDeps, 'endCommands' | 'assignments'>,
): TurnActivities['stop_session'] {
  return failingAs(recordFailure, async ({ tenant, session, by }) => {
    await Promise.all([deps.endCommands(tenant, session), deps.assignments.stopAll(tenant, session, by)]);
  });
}
