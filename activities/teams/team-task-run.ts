/** Activities of a team task's workflow: its rows, its member's next message, and notifications. */
import { Context } from '@temporalio/activity';
import { Failure } from '#domain/errors.ts';
import { GATE_WORDS, gateWarnings, isUngated, shownGates } from '#domain/gate/gate.ts';
import { blockerEndedMessage, noticeMessage, requestMessage, taskMessage } from '#domain/team/words.ts';
import { areTeamSettings } from '#domain/team/may-use-team.ts';
import {
  leadSessionKey,
  sessionsOfTask,
  TEAM_LIMITS,
  taskSessionKey,
  type TeamSettings,
} from '#domain/team/team.ts';
import {
  type LoadedTask,
  type MemberTurn,
  type RecordResult,
  type TaskChange,
  type TaskState,
  TEAM_TASK,
  type TeamTaskActivities,
  type TeamTaskInput,
  type TaskTeam,
} from '#domain/team/team-task.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { activityFailure, failingAs, recordFailure } from '../activity-failure.ts';
import { teamNotice } from '#store/event-notifier.ts';
import { gateRows } from '#store/teams/gate-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { noteRefusedSignal } from '#store/approvals/refused-signal-record.ts';
import { findTeam, insertTeamMessage } from '#store/teams/team-store.ts';
import type { NewMemberTurn } from '#store/teams/member-turn-record.ts';
import type { WrittenChange } from '#store/teams/recorded-task.ts';
import { dependentsOf, loadTask } from '#store/teams/team-task-state.ts';
import { feedbackOf } from '#store/teams/task-gate-store.ts';
import { giveTask, prepareTurn, recordTask } from '#store/teams/team-task-record.ts';
import * as tasks from '#store/teams/team-task-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { taskStart } from '#temporal/team-board.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { SendSystemMessage } from '../turn/send-system-message.ts';

export interface TeamTaskRunDeps extends Pick<ActivityDeps, 'pool' | 'scrubberOf' | 'onWrite'> {
  readonly reach: Pick<WorkflowReach, 'signalWithStart'>;
  readonly wake: SendSystemMessage;
}

const REMINDERS = { minutes: 30, max: 3 } as const;

export function createTeamTaskActivities(deps: TeamTaskRunDeps): TeamTaskActivities {
  const { pool, onWrite } = deps;
  /** Tells the readers of the board once it is done. */
  async function notifying<Done>({ tenant, team }: TeamTaskInput, work: Promise<Done>): Promise<Done> {
    const done = await work;
    onWrite(tenant, teamNotice(team));
    return done;
  }
  return {
    // A new task is loaded first.
    load_team_task: failingAs(recordFailure, (input) => notifying(input, load(pool, input))),
    note_refused_signal: failingAs(recordFailure, (input) => noteRefused(deps, input)),
    record_team_task: failingAs(recordFailure, (input) => notifying(input, record(deps, input))),
    give_team_task: failingAs(recordFailure, async (input) =>
      notifying(
        input,
        input.change.action === 'dispatch'
          ? give(deps, input)
          : record(deps, input).then((recorded) => ({ recorded })),
      ),
    ),
    prepare_member_turn: failingAs(recordFailure, (input) => prepare(deps, input)),
    notify_dependents: failingAs(recordFailure, (input) => notifyDependents(deps, input)),
    wake_lead: failingAs(activityFailure, (input) => wakeLead(deps, input)),
  };
}

function runOfCaller(): string {
  return Context.current().info.workflowExecution?.runId ?? '';
}

function placeOf(pool: Pool, { tenant, team, number }: TeamTaskInput) {
  return [forTenant(pool, tenant), [team, number]] as const;
}

function noTask({ team, number }: TeamTaskInput): Failure {
  return new Failure('NotFound', `team ${team} has no task ${number}`);
}

async function noteRefused(
  { pool, scrubberOf }: TeamTaskRunDeps,
  { key, refused, before, ...task }: Parameters<TeamTaskActivities['note_refused_signal']>[0],
): ReturnType<TeamTaskActivities['note_refused_signal']> {
  const scrubber = await scrubberOf(task.tenant);
  const shown = { by: scrubber.text(refused.by), problem: scrubber.text(refused.problem) };
  return noteRefusedSignal(...placeOf(pool, task), { ...refused, ...shown, key, before });
}

async function record(
  deps: TeamTaskRunDeps,
  { change, ...key }: Parameters<TeamTaskActivities['record_team_task']>[0],
): Promise<RecordResult> {
  const { pool, scrubberOf } = deps;
  const { text } = change;
  // A text of another client has not been scrubbed yet.
  const hidden =
    text?.text === undefined
      ? change
      : { ...change, text: { ...text, text: (await scrubberOf(key.tenant)).text(text.text) } };
  const whole = await withJudging(pool, key, hidden);
  const recorded = await recordTask(...placeOf(pool, key), {
    ...whole,
    run: runOfCaller(),
  });
  if (recorded.kind === 'missing') throw noTask(key);
  if (recorded.kind !== 'gated') return recorded;
  return { ...recorded, gates: shownGates(recorded.gates, (await scrubberOf(key.tenant)).text) };
}

/** Feedback of gates is in rows: the member who revises reads all of it, and a result contains the warnings. */
async function withJudging(
  pool: Pool,
  { tenant, team, number }: TeamTaskInput,
  change: TaskChange,
): Promise<WrittenChange> {
  const { action, task, judged, text } = change;
  if (action === 'hand_in') return { ...change, session: taskSessionKey(team, number, task.owner ?? '') };
  if (judged === undefined) return change;
  const checks = await gateRows(forTenant(pool, tenant), judged);
  if (action === 'give_back') {
    const { gate, retries, max_retries } = task.returned ?? { gate: 0, retries: 0, max_retries: 0 };
    const words = checks.find((check) => check.gate === gate && check.step === 'retry')?.feedback ?? '';
    return { ...change, text: { text: GATE_WORDS.retry(words, retries, max_retries), as: 'reason' } };
  }
  const warnings = gateWarnings(checks);
  if (text) return { ...change, warnings };
  return warnings.length > 0 ? { ...change, text: { text: warnings.join('\n\n'), as: 'note' } } : change;
}

async function load(pool: Pool, input: TeamTaskInput): Promise<LoadedTask | null> {
  const row = await loadTask(...placeOf(pool, input), runOfCaller());
  if (!row) return null;
  const { task, completed, isOriginClosed, signals, lost, lead, members, settings } = row;
  return {
    task,
    completed,
    isOriginClosed,
    signals,
    lost,
    team: teamOf(lead, members, areTeamSettings(settings) ? settings : {}),
  };
}

function teamOf(lead: string, members: readonly string[], settings: TeamSettings): TaskTeam {
  return {
    lead,
    members,
    lease_seconds: settings.lease_seconds ?? TEAM_LIMITS.leaseSeconds,
    escalates: settings.blocker_escalation?.enabled ?? true,
    reminder_minutes: settings.reminder_minutes ?? REMINDERS.minutes,
    reminders: settings.reminders ?? REMINDERS.max,
    notifies_each: settings.progress_notifications ?? false,
  };
}

async function prepare(
  deps: TeamTaskRunDeps,
  { task, ...input }: Parameters<TeamTaskActivities['prepare_member_turn']>[0],
): ReturnType<TeamTaskActivities['prepare_member_turn']> {
  const { row, turn } = await turnFor(deps, input, task);
  return (await prepareTurn(...placeOf(deps.pool, input), row)) ? turn : null;
}

async function give(
  deps: TeamTaskRunDeps,
  { change, ...input }: Parameters<TeamTaskActivities['give_team_task']>[0],
): ReturnType<TeamTaskActivities['give_team_task']> {
  const { row, turn } = await turnFor(deps, input, change.task);
  const written = await giveTask(...placeOf(deps.pool, input), { ...change, run: runOfCaller() }, row);
  if (written.kind === 'missing' || written.kind === 'gated') throw noTask(input);
  if (written.kind === 'refused') return { recorded: written };
  const { isAssigned, ...recorded } = written;
  return { recorded, turn: isAssigned ? turn : null };
}

/** The instructions for the holder of the task's lease, as a row, and the start of its workflow. */
async function turnFor(
  { pool, scrubberOf }: TeamTaskRunDeps,
  input: TeamTaskInput,
  task: TaskState,
): Promise<{ readonly row: NewMemberTurn; readonly turn: MemberTurn }> {
  const { tenant, team, number } = input;
  const db = forTenant(pool, tenant);
  const [row, loaded, needed, scrubber, feedback] = await Promise.all([
    tasks.findTask(db, team, number),
    loadTask(db, [team, number]),
    tasks.blockersOf(db, team, number),
    scrubberOf(tenant),
    task.returned?.member === task.lease?.member ? feedbackOf(db, team, number) : undefined,
  ]);
  const { lease } = task;
  if (!row || !loaded || !lease) throw noTask(input);
  const note = [task.note, feedback].filter((one) => one).join('\n\n') || null;
  const messages = needed.map((one) => ({ ...one, assignee: null, reason: null }));
  const session = taskSessionKey(team, number, lease.member);
  const message_id = `msg_task-${team}.${number}.${lease.fence}`;
  const { user, chat_id, group } = row.origin_context;
  const title = `#${number} ${row.subject}`;
  return {
    row: {
      session,
      reads: [...row.writers, ...needed.flatMap((one) => sessionsOfTask(team, one))],
      message_id,
      agent: lease.member,
      title,
      text: taskMessage({ key: team, lead: loaded.lead }, { ...task, note }, row.description, messages),
      context: {
        channel: 'teammate',
        user,
        chat_id,
        group,
      },
      bound: {
        team: {
          key: team,
          number,
          member: lease.member,
          fence: lease.fence,
          ungated: isUngated(row.origin_context) ? true : undefined,
        },
      },
    },
    turn: {
      session,
      message_id,
      preview: scrubber.preview(title, 200),
      agent: lease.member,
      user,
    },
  };
}

/** Waiting tasks are notified of every end; the owner of one that waits in vain gets a message. */
async function notifyDependents(
  deps: TeamTaskRunDeps,
  { numbers, status, ...input }: Parameters<TeamTaskActivities['notify_dependents']>[0],
): Promise<void> {
  const { pool, reach } = deps;
  const { tenant, team, number } = input;
  if (status === 'cancelled') await notifyLeadOfCancel(deps, input);
  const ended = await tasks.findTask(forTenant(pool, tenant), team, number);
  for (const waiting of numbers) {
    const message = { number, status };
    await reach.signalWithStart(taskStart(tenant, team, waiting), TEAM_TASK.signals.dependencyDone, message);
    const row = await tasks.findTask(forTenant(pool, tenant), team, waiting);
    if (status === 'completed' || !ended || !row?.assignee) continue;
    await insertTeamMessage(forTenant(pool, tenant), team, {
      id: `mail_wait-${team}.${waiting}.${number}.${ended.revision}`,
      sender: 'system',
      addressee: row.assignee,
      text: blockerEndedMessage(team, waiting, ended),
    });
  }
}

/**
 * Tasks that wait for a cancelled one keep their request open, so that the lead would not hear of it. A lead that
 * cancels in its own turn reads there what waits.
 */
async function notifyLeadOfCancel(deps: TeamTaskRunDeps, input: TeamTaskInput): Promise<void> {
  const [db, key] = placeOf(deps.pool, input);
  const [cancel, team] = await Promise.all([tasks.findCancel(db, key), findTeam(db, input.team)]);
  if (!cancel || cancel.actor === `agent:${team?.lead}`) return;
  await wakeLead(deps, { ...input, notice: 'cancelled', revision: cancel.revision });
}

async function wakeLead(
  { pool, wake }: TeamTaskRunDeps,
  { notice, revision, ...input }: Parameters<TeamTaskActivities['wake_lead']>[0],
): Promise<void> {
  const { tenant, team, number } = input;
  const db = forTenant(pool, tenant);
  const row = await tasks.findTask(db, team, number);
  const loaded = await loadTask(db, [team, number]);
  if (!row || !loaded) return;
  const context = { ...row.origin_context, channel: 'teammate' };
  const session = row.origin_session ?? leadSessionKey(team, loaded.lead);
  const rows = notice === 'all_closed' ? await tasks.tasksAnnouncedBy(db, team, number) : [row];
  const text =
    notice === 'all_closed'
      ? requestMessage(team, rows)
      : noticeMessage(
          team,
          row,
          notice,
          row.state.question?.preview,
          await waitingFor(pool, input, row.status),
        );
  await wake({
    tenant,
    session,
    messageId: `msg_team-${team}.${number}.${revision}.${notice}`,
    text,
    mode: 'queue',
    context,
    ...(row.origin_session ? {} : { agent: loaded.lead, team }),
    sourceSessions: rows.flatMap((one) => sessionsOfTask(team, one)),
    from:
      row.origin_session && row.origin_turn
        ? { session: row.origin_session, turn: row.origin_turn }
        : undefined,
  });
}

async function waitingFor(pool: Pool, input: TeamTaskInput, status: string): Promise<readonly number[]> {
  return status === 'failed' || status === 'cancelled' ? dependentsOf(...placeOf(pool, input)) : [];
}
