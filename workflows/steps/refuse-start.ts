/** A run that was started wrongly (domain/start-problem.ts) takes nothing, says why, and ends. */
import { ApplicationFailure, defineUpdate, setHandler } from '@temporalio/workflow';

/** Updates that came with a wrong start are refused, so that who sent them is told. */
export function refuseWrongStart(problem: string | undefined, updates: readonly string[] = []): void {
  if (problem === undefined) return;
  const refuse = (): never => {
    throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
  };
  for (const name of updates) setHandler(defineUpdate(name), refuse, { validator: refuse });
  refuse();
}
