/** A run of `agentTurn` that was started as no session, or as another than its id names: it takes nothing, says why, and ends. */
import { ApplicationFailure, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { sessionStartProblem } from '#domain/ids.ts';
import { AGENT_TURN } from '#domain/turn.ts';

/** Messages that came with a wrong start are refused, so that who sent them is told. */
export function refuseWrongStart(input: unknown): void {
  const problem = sessionStartProblem(input, workflowInfo().workflowId);
  if (problem === undefined) return;
  const refuse = (): never => {
    throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
  };
  for (const name of Object.values(AGENT_TURN.updates))
    setHandler(defineUpdate(name), refuse, { validator: refuse });
  refuse();
}
