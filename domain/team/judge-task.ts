/**
 * The rules of a task's quality gates (DE-6): work is submitted and judged, and then completes the task, comes back or
 * fails.
 */
import { GATE_WORDS } from '../gate/gate.ts';
import { taskIdOf } from './team.ts';
import type { TaskChange, TaskState } from './team-task.ts';
import { changed, type TaskDecision, heldLonger, type Moment, same } from './decision.ts';
import type { Judgement, TaskGates } from './task-judging.ts';

/**
 * Whether gates may have to run before the change is recorded. Work that has passed for a review is completed without
 * them.
 */
export function mayBeGated({ task }: Pick<Moment, 'task'>, { action, text, judged }: TaskChange): boolean {
  if (judged !== undefined || (action !== 'complete' && action !== 'review')) return false;
  return task.status !== 'in_review' || !task.worked || text !== undefined;
}

/** Replaces the requested change: the work waits for its gates, and no time limit runs. */
export function judgeHandIn(
  { task }: Pick<Moment, 'task'>,
  change: TaskChange,
  { gates, agent_revision }: TaskGates,
  team: string,
): TaskDecision {
  const member = change.task.owner ?? change.task.assignee;
  const { lease, returned } = task;
  const endsByHandIn = lease?.until === null || lease?.work !== undefined;
  if (member === null) return same('nobody has it');
  const revision = task.revision + 1;
  const id = change.text?.id ?? (change.text ? `text_${team}.${task.number}.${revision}` : null);
  const judging = {
    of: `${taskIdOf(team, task.number)}.${revision}`,
    action: change.action === 'review' ? ('review' as const) : ('complete' as const),
    actor: change.actor,
    text_id: id,
    member,
    agent_revision,
    gates,
    from:
      returned?.member === member
        ? { gate: returned.gate, retries: returned.retries }
        : { gate: 0, retries: 0 },
    fence: endsByHandIn && change.actor === `agent:${lease.member}` ? lease.fence : null,
  };
  return changed(
    task,
    {
      status: 'in_progress',
      owner: member,
      worked: true,
      question: null,
      lease: endsByHandIn ? null : lease,
      judging,
    },
    { action: 'hand_in', actor: change.actor, text: change.text, writer: change.writer },
  );
}

/** Decides on work that was submitted and neither withdrawn nor ended meanwhile. */
export function judged(moment: Moment, { of, failed }: Judgement): TaskDecision {
  const { task, team } = moment;
  const { judging } = task;
  if (judging?.of !== of) return same('it has moved on');
  if (failed) return failed.step === 'retry' ? giveBack(moment, of, failed) : block(task, failed);
  const passed = {
    action: judging.action,
    actor: judging.actor,
    judged: of,
    text: judging.text_id === null ? undefined : { id: judging.text_id, as: 'result' as const },
  };
  const fields = { lease: null, judging: null, returned: null };
  return judging.action === 'review'
    ? changed(task, { ...fields, status: 'in_review' }, passed, ['in_review'])
    : changed(
        task,
        { ...fields, status: 'completed', percent: 100 },
        passed,
        team.notifies_each ? ['completed'] : [],
      );
}

/**
 * Returns it to its holder with the feedback. A lease continues; a member without one gets the task again, which is not
 * a failure.
 */
function giveBack(
  moment: Moment,
  of: string,
  { gate, retries, max_retries }: NonNullable<Judgement['failed']>,
): TaskDecision {
  const { task } = moment;
  const { owner, dispatches } = task;
  const returned = { member: owner ?? '', gate, retries: retries + 1, max_retries };
  const place: Partial<TaskState> = task.lease
    ? heldLonger(moment)
    : { status: 'pending', assignee: owner, owner: null, dispatches: Math.max(0, dispatches - 1) };
  return changed(
    task,
    { ...place, judging: null, returned },
    { action: 'give_back', actor: 'system', judged: of },
  );
}

function block(task: TaskState, { name, retries, preview }: NonNullable<Judgement['failed']>): TaskDecision {
  return changed(
    task,
    { status: 'failed', lease: null, judging: null, returned: null },
    { action: 'fail', actor: 'system', reason: GATE_WORDS.blocked(name, preview, retries) },
    ['failed'],
  );
}
