/** The one record of a turn's end, however it ended: open calls are settled, waiting approvals withdrawn, readers told. */
import { Context } from '@temporalio/activity';
import { Failure } from '#domain/errors.ts';
import type { EndedTurn, EndTurnInput } from '#domain/turn.ts';
import { recordFailure } from '../activity-failure.ts';
import type { Assignments } from '../assignments/assignments.ts';
import type { ReleaseAnswer } from '../gates/gate-run.ts';
import type { EndCommands } from '../process/end-commands.ts';
import { hideTexts, type ScrubberOf } from '#store/secrets/scrubber.ts';
import type { TeamBoard } from '#temporal/team-board.ts';
import type { TurnLedger } from '#store/turn-ledger.ts';

export function createEndTurn(deps: {
  readonly ledger: TurnLedger;
  /** Ends what was begun for the turn in this worker and nobody follows. */
  readonly endBegun: (tenant: string, turn: string) => Promise<void>;
  readonly endCommands: EndCommands;
  readonly assignments: Pick<Assignments, 'stopAll'>;
  readonly releaseTasks: TeamBoard['releaseTasks'];
  /** Whether what the session has given away has yet to be answered there. */
  readonly hasPending: (tenant: string, session: string) => Promise<boolean>;
  readonly releaseAnswer: ReleaseAnswer;
  readonly defaultAgent: string;
  readonly scrubberOf: ScrubberOf;
}): (input: EndTurnInput) => Promise<EndedTurn> {
  return async (input) => {
    try {
      await deps.endBegun(input.tenant, input.turn);
      // Before the record: who reads `stopped` may rely on it.
      if (input.endCommands) await deps.endCommands(input.tenant, input.session);
      if (input.endAssignments)
        await deps.assignments.stopAll(input.tenant, input.session, input.by ?? 'system');
      if (input.releaseAnswer !== undefined)
        await deps.releaseAnswer({ ...input, step: input.releaseAnswer });
      const end = await hidden(deps.scrubberOf, input);
      const runId = Context.current().info.workflowExecution?.runId ?? '';
      const status = await deps.ledger.endTurn(end, deps.defaultAgent, runId).catch(passNoTenant);
      if (input.releaseTasks) await deps.releaseTasks(input.tenant, input.turn);
      const isPending = input.isAssigned === true && (await deps.hasPending(input.tenant, input.session));
      return { status, isPending };
    } catch (error) {
      throw recordFailure(error);
    }
  };
}

/** Where there is no tenant there is nothing to record, however often it is tried. */
function passNoTenant(error: unknown): null {
  if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
  return null;
}

/** Messages that no model call has taken may still bring their text. */
async function hidden(scrubberOf: ScrubberOf, input: EndTurnInput): Promise<EndTurnInput> {
  const { messages, dropped } = input;
  if (!messages && !dropped) return input;
  const scrubber = await scrubberOf(input.tenant);
  return {
    ...input,
    ...(messages ? { messages: hideTexts(scrubber, messages) } : {}),
    ...(dropped
      ? { dropped: dropped.map((turn) => ({ ...turn, messages: hideTexts(scrubber, turn.messages) })) }
      : {}),
  };
}
