/** A task as callers of its workflow see it: by an update, by a query, or in the web UI. */
import { setCurrentDetails } from '@temporalio/workflow';
import { sessionWorkflowId } from '#domain/ids.ts';
import { markdownText } from '#domain/text/markdown.ts';
import { JUDGED_NOW } from '#domain/team/decide-task.ts';
import type { TaskDecision } from '#domain/team/decision.ts';
import { taskIdOf, taskWorkflowId } from '#domain/team/team.ts';
import type { TaskAction, TaskReceipt, TaskState, TaskView, TeamTaskInput } from '#domain/team/team-task.ts';

/** The answer to an update that was accepted. */
export function answerOf(
  input: TeamTaskInput,
  { lease, ...task }: TaskState,
  action: TaskAction,
  member: string | undefined,
  decision: TaskDecision | undefined,
): TaskReceipt {
  const gives = (action === 'claim' || action === 'renew') && lease?.member === member;
  const note = decision?.kind === 'same' ? decision.note : noteOn(task, action);
  return {
    ...receiptOf(input, task),
    ...(note === undefined ? {} : { note }),
    ...(gives && lease && lease.until !== null
      ? { lease: { token: lease.token, fence: lease.fence, until: new Date(lease.until).toISOString() } }
      : {}),
  };
}

function noteOn({ judging }: Omit<TaskState, 'lease'>, action: TaskAction): string | undefined {
  return judging && (action === 'complete' || action === 'review') ? JUDGED_NOW : undefined;
}

function receiptOf({ team }: TeamTaskInput, task: Omit<TaskState, 'lease'>): TaskReceipt {
  const { number, status, owner, assignee, percent, revision, judging } = task;
  const receipt = { id: taskIdOf(team, number), number, status, owner, assignee, percent, revision };
  return judging ? { ...receipt, judging: true } : receipt;
}

/** `session` belongs to the member's running turn. */
export function viewOf(input: TeamTaskInput, task: TaskState, session: string | undefined): TaskView {
  return {
    ...receiptOf(input, task),
    workflow_id: taskWorkflowId(input.tenant, input.team, input.number),
    session_workflow_id: session === undefined ? null : sessionWorkflowId(input.tenant, session),
    holder: task.lease?.member ?? null,
    waiting_for: task.open_blockers,
  };
}

/** Details for the web UI. */
export function show({ subject, status, owner, percent, open_blockers, question, judging }: TaskState): void {
  const lines = [`**${markdownText(subject)}**: ${status}${owner === null ? '' : `, ${owner}`}, ${percent}%`];
  if (open_blockers.length > 0) lines.push(`waits for ${open_blockers.map((n) => `#${n}`).join(', ')}`);
  if (question) lines.push(`asks the user: ${markdownText(question.preview)}`);
  if (judging) lines.push(`judged by ${judging.gates.map(({ name }) => markdownText(name)).join(', ')}`);
  setCurrentDetails(lines.join('\n\n'));
}
