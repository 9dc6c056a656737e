/** A run with a wrong start (domain/turn/start-problem.ts) accepts nothing, reports the reason, and ends. */
import { ApplicationFailure, defineUpdate, setHandler } from '@temporalio/workflow';

/** Updates that came with a wrong start are refused, so that their senders get the reason. */
export function refuseWrongStart(problem: string | undefined, updates: readonly string[] = []): void {
  if (problem === undefined) return;
  const refuse = (): never => {
    throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
  };
  for (const name of updates) setHandler(defineUpdate(name), refuse, { validator: refuse });
  refuse();
}
