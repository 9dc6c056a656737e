/** Stops delegated work that no longer has its task, as a member's turn is stopped. */
import { ASSIGNMENT } from '#domain/assignment/assignment.ts';
import { workflowOfWork } from '#domain/ids.ts';
import { signalIfRunning } from '../signal-if-running.ts';

export function stopWork(id: string): Promise<void> {
  const stop = { by: 'system', reason: 'the task is no longer this member’s' };
  return signalIfRunning(workflowOfWork(id), ASSIGNMENT.signals.stop, stop);
}
