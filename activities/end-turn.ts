/** The one record of a turn's end, however it ended: open calls are settled, waiting approvals withdrawn, readers told. */
import { Context } from '@temporalio/activity';
import type { EndTurnInput } from '#domain/turn.ts';
import { recordFailure } from './activity-failure.ts';
import type { Processes } from './process/background.ts';
import type { TurnLedger } from './store/turn-ledger.ts';

export function createEndTurn(deps: {
  readonly ledger: TurnLedger;
  readonly processes: Pick<Processes, 'killSession'>;
  readonly defaultAgent: string;
}): (input: EndTurnInput) => Promise<void> {
  return async (input) => {
    try {
      // Before the record: who reads `stopped` may rely on it.
      if (input.endCommands) await deps.processes.killSession(input.tenant, input.session);
      await deps.ledger.endTurn(
        input,
        deps.defaultAgent,
        Context.current().info.workflowExecution?.runId ?? '',
      );
    } catch (error) {
      throw recordFailure(error);
    }
  };
}
