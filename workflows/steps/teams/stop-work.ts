/** Stops delegated work that no longer has its task, as a member's turn is stopped. */
import { ASSIGNMENT } from '#domain/assignment/assignment.ts';
import { workflowOfWork } from '#domain/ids.ts';
import { isClosed, type TaskState } from '#domain/team/team-task.ts';
import { signalIfRunning } from '../signal-if-running.ts';

export function stopWork(id: string, { number, status, lease }: TaskState): Promise<void> {
  const held = lease && `${lease.member} has it now`;
  const what = isClosed(status) ? `it is ${status}` : (held ?? 'it was taken back');
  const reason = `its task #${number} is no longer this member’s: ${what}`;
  const stop = { by: 'system', reason };
  return signalIfRunning(workflowOfWork(id), ASSIGNMENT.signals.stop, stop);
}
