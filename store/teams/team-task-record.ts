/** Writes of tasks' rows: one commit each, safe to repeat. `domain/team/` makes the decisions. */
import { type RawBuilder, sql } from 'kysely';
import { gatesFor, isUngated, type QualityGate } from '#domain/gate/gate.ts';
import { assigneeProblem } from '#domain/team/lead-actions.ts';
import { BLOCKER_WORDS, newTask, openBlockers } from '#domain/team/new-task.ts';
import { isStatusReason } from '#domain/team/decision.ts';
import { CLOSED, isClosed, type TaskState } from '#domain/team/team-task.ts';
import { taskSessionKey } from '#domain/team/team.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { type NewMemberTurn, openMemberSession, writeMemberTurn } from './member-turn-record.ts';
import { insertBlockers, tasksWithNumbers, withBlockers } from './task-blockers.ts';
import { ofTask, type RecordedTask, type TaskKey, type WrittenChange } from './recorded-task.ts';
import { callWithin } from '../postgres/sql-call.ts';
import { affects } from '../postgres/statements.ts';
import { dependentsOf, readRecordedState } from './team-task-state.ts';
import { readText, takeTexts } from './task-text-record.ts';
import { noteReading } from '../turns/session-writes.ts';
import { type TenantDb, type TenantTx } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface NewTask extends Pick<TaskState, 'subject' | 'priority'> {
  readonly description: string;
  readonly blocked_by: readonly number[];
  readonly require_approval: boolean;
  readonly assignee?: string | undefined;
  readonly actor: string;
  readonly create_key: string;
  readonly origin_session?: string | undefined;
  readonly origin_turn?: string | undefined;
  /** Context, when no turn created it. */
  readonly context?: MessageContext | undefined;
  /** Sessions whose text it has, besides `origin_session`. */
  readonly writers?: readonly string[];
}

export type CreatedTask =
  | { readonly kind: 'created'; readonly number: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly message: string };

const NOW = sql<Date>`clock_timestamp()`;

/** Assigns the next number of its team. The same create_key is the same task. */
export function createTask(db: TenantDb, team: string, task: NewTask): Promise<CreatedTask> {
  return inTransaction(db, async (tx) => {
    const found = await lockTeam(tx, team);
    if (!found || found.deleted_at !== null) return { kind: 'missing' };
    const ofTeam = { tenant_id: db.tenant, team_key: team };
    const made = await tx
      .selectFrom('team_tasks')
      .select('number')
      .where((is) => is.and({ ...ofTeam, create_key: task.create_key }))
      .executeTakeFirst();
    if (made) return { kind: 'created', number: made.number };
    const { assignee } = task;
    const members = await membersOf(tx, team);
    const problem = assignee && assigneeProblem({ lead: found.lead, members }, assignee);
    if (problem) return { kind: 'refused', message: problem };
    const blockers = [...new Set(task.blocked_by)];
    const open = openBlockers(blockers, await tasksWithNumbers(tx, team, blockers));
    if (!open) return { kind: 'refused', message: BLOCKER_WORDS.unknown };
    const number = found.task_seq + 1;
    const turn = await tx
      .selectFrom('turns')
      .select('context')
      .where((is) => is.and({ tenant_id: db.tenant, id: task.origin_turn ?? '' }))
      .executeTakeFirst();
    const state = newTask(
      number,
      {
        subject: task.subject,
        assignee: assignee ?? null,
        priority: task.priority,
        require_approval: task.require_approval,
        released: task.origin_turn === undefined,
      },
      open,
    );
    await tx
      .updateTable('teams')
      .set({ task_seq: number })
      .where((is) => is.and({ tenant_id: db.tenant, key: team }))
      .execute();
    await tx
      .insertInto('team_tasks')
      .values({
        ...ofTeam,
        ...columnsOf(state),
        number,
        description: task.description,
        origin_session: task.origin_session,
        origin_turn: task.origin_turn,
        origin_context: JSON.stringify(turn?.context ?? task.context ?? {}),
        create_key: task.create_key,
        created_by: task.actor,
        writers: task.writers && [...task.writers],
      })
      .execute();
    await insertBlockers(tx, [team, number], blockers);
    await insertEvent(tx, [team, number], state, { action: 'create', actor: task.actor });
    return { kind: 'created', number };
  });
}

/**
 * Writes one change that a task's workflow has decided: row, audit event, texts and files. A revision is written once,
 * so a repeat gets the same answer. A different change at an existing revision also gets the stored state, because a
 * worker may have died between the commit and Temporal's record. Blockers are checked here, one team at a time, because
 * two tasks may be made to wait for each other at the same moment.
 * Work of an agent with quality gates for tasks is not recorded as done before they have judged it (DE-6), if the
 * caller handles that answer. Submitted work is hidden until it has passed.
 */
export function recordTask(db: TenantDb, key: TaskKey, change: WrittenChange): Promise<RecordedTask> {
  return inTransaction(db, (tx) => writeChange(tx, key, change));
}

/**
 * Records a change that gives the task, with the turn for it. `isAssigned` is false when its agent is gone, and absent
 * when the change is not recorded.
 */
export function giveTask(
  db: TenantDb,
  key: TaskKey,
  change: WrittenChange,
  turn: NewMemberTurn,
): Promise<RecordedTask & { readonly isAssigned?: boolean }> {
  return inTransaction(db, async (tx) => {
    const recorded = await writeChange(tx, key, change);
    const isStanding =
      recorded.kind === 'recorded' && recorded.task.lease?.token === change.task.lease?.token;
    return isStanding ? { ...recorded, isAssigned: await writeMemberTurn(tx, key, turn) } : recorded;
  });
}

/** False when its agent no longer exists. */
export function prepareTurn(db: TenantDb, key: TaskKey, turn: NewMemberTurn): Promise<boolean> {
  return inTransaction(db, (tx) => writeMemberTurn(tx, key, turn));
}

async function writeChange(tx: TenantTx, key: TaskKey, change: WrittenChange): Promise<RecordedTask> {
  const { revision, status } = change.task;
  if (change.blocked_by || isClosed(status)) await lockTeam(tx, key[0]);
  const row = await lockTask(tx, key);
  if (!row) return { kind: 'missing' };
  if (row.revision < revision) {
    const gates = change.may_be_gated ? await gatesOf(tx, row, change.task) : undefined;
    if (gates) return { kind: 'gated', ...gates };
    const task = await withBlockers(tx, key, change);
    if (typeof task === 'string') return { kind: 'refused', message: task };
    await write(tx, key, row, { ...change, task });
  }
  return { kind: 'recorded', ...(await readRecordedState(tx, key, revision)) };
}

type TaskRow = NonNullable<Awaited<ReturnType<typeof lockTask>>>;

export function lockTask(tx: TenantTx, key: TaskKey) {
  return tx
    .selectFrom('team_tasks')
    .select(['revision', 'subject', 'started_at', 'closed_at', 'state', 'refused', 'last_refused'])
    .select(['origin_session', 'origin_turn', 'origin_context'])
    .where((is) => is.and(ofTask(tx, key)))
    .forUpdate()
    .executeTakeFirst();
}

function lockTeam(tx: TenantTx, team: string) {
  return tx
    .selectFrom('teams')
    .select(['lead', 'task_seq', 'deleted_at'])
    .where((is) => is.and({ tenant_id: tx.tenant, key: team }))
    .forUpdate()
    .executeTakeFirst();
}

async function membersOf(tx: TenantTx, team: string): Promise<readonly string[]> {
  const members = await tx
    .selectFrom('team_members')
    .select('agent_key')
    .where((is) => is.and({ tenant_id: tx.tenant, team_key: team }))
    .execute();
  return members.map(({ agent_key }) => agent_key);
}

/** Whether it is delegated work that the member's gates for tasks have judged already. */
async function isJudged(tx: TenantTx, { lease }: TaskState): Promise<boolean> {
  if (lease?.work === undefined) return false;
  return affects(tx)`select from assignments where tenant_id = ${tx} and id = ${lease.work}
    and status = 'completed' and gates @> '[{"event": "task.completed"}]'`;
}

/** The gates of the submitter that must judge first. None within a judgement. */
async function gatesOf(
  tx: TenantTx,
  { origin_context, state }: Pick<TaskRow, 'origin_context' | 'state'>,
  { owner, assignee }: TaskState,
): Promise<{ readonly agent_revision: number; readonly gates: readonly QualityGate[] } | undefined> {
  if (isUngated(origin_context) || (await isJudged(tx, state))) return undefined;
  const worker = await tx
    .selectFrom('agents')
    .select(['revision', 'config'])
    .where((is) => is.and({ tenant_id: tx.tenant, key: owner ?? assignee ?? '' }))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const gates = gatesFor(worker?.config.quality_gates, 'task.completed');
  return worker && gates.length > 0 ? { agent_revision: worker.revision, gates } : undefined;
}

async function write(tx: TenantTx, key: TaskKey, row: TaskRow, change: WrittenChange): Promise<void> {
  const { task, action } = change;
  const closing = isClosed(task.status);
  if (action === 'hand_in') await openSession(tx, key, row, change);
  const result = await takeTexts(tx, key, change);
  if (change.file_id !== undefined)
    await tx
      .updateTable('team_task_files')
      .set({ revision: task.revision })
      .where((is) => is.and({ ...ofTask(tx, key), id: change.file_id ?? '' }))
      .where('revision', 'is', null)
      .execute();
  const description = change.description_id && (await readText(tx, key, change.description_id));
  await tx
    .updateTable('team_tasks')
    .set({
      ...columnsOf(task),
      reason: reasonOf(change, row.state),
      description,
      result,
      started_at: task.status === 'in_progress' && row.started_at === null ? NOW : undefined,
      closed_at: closing ? (row.closed_at === null ? NOW : undefined) : null,
      announced_by: closing ? undefined : null,
      writers: addWriters(writersOf(key, row.state, change)),
      updated_at: NOW,
    })
    .where((is) => is.and(ofTask(tx, key)))
    .execute();
  const isReported = change.is_known && (await dependentsOf(tx, key)).length === 0;
  await insertEvent(tx, key, task, isReported ? { ...change, notices: [] } : change);
  if (closing && row.origin_turn !== null) await announceByLast(tx, key, row.origin_turn, change);
  if (change.judged !== undefined) await callWithin(tx, 'count_turn_holds', [change.judged]);
}

/** The reason is about the status that the task has; undefined where it stays. */
function reasonOf(change: WrittenChange, { status }: TaskState): string | null | undefined {
  const kept = change.task.status === status ? undefined : null;
  return (isStatusReason(change) ? change.reason : undefined) ?? kept;
}

/** The sender, and the member that had it before another one: the reason for that is its. */
function writersOf([team, number]: TaskKey, { owner }: TaskState, { writer, task }: WrittenChange): string[] {
  const former = owner !== null && owner !== task.owner ? [taskSessionKey(team, number, owner)] : [];
  return writer === undefined ? former : [...former, writer];
}

function addWriters(sessions: readonly string[]): RawBuilder<string[]> | undefined {
  return sessions.length === 0
    ? undefined
    : sql`writers || array(select s from unnest(${sessions}::text[]) s where s <> all (writers))`;
}

/** In `announced_by`: nobody has to report it. */
const NO_TASK = 0;

/** The last closed task of a request reports all of them that the lead does not know (TE-2). */
async function announceByLast(
  tx: TenantTx,
  key: TaskKey,
  turn: string,
  { is_known: isKnown }: WrittenChange,
): Promise<void> {
  const [team_key, number] = key;
  if (isKnown)
    await tx
      .updateTable('team_tasks')
      .set({ announced_by: NO_TASK })
      .where((is) => is.and(ofTask(tx, key)))
      .execute();
  const request = { tenant_id: tx.tenant, team_key, origin_turn: turn };
  const unreported = await tx
    .selectFrom('team_tasks')
    .select('status')
    .where((is) => is.and(request))
    .where('announced_by', 'is', null)
    .execute();
  if (unreported.some(({ status }) => !CLOSED.includes(status))) return;
  await tx
    .updateTable('team_tasks')
    .set({ announced_by: number })
    .where((is) => is.and(request))
    .where('announced_by', 'is', null)
    .execute();
}

/**
 * The session where results of its gates are reported and their use is counted; a member's turn may have created it.
 */
async function openSession(
  tx: TenantTx,
  key: TaskKey,
  row: TaskRow,
  { task, session = '', writer }: WrittenChange,
): Promise<void> {
  const [team, number] = key;
  const agent = task.owner ?? '';
  await openMemberSession(tx, key, row, {
    session,
    agent,
    title: `#${number} ${row.subject}`,
    context: { user: row.origin_context.user },
    bound: { team: { key: team, number, member: agent, fence: task.fence } },
  });
  if (writer !== undefined) await noteReading(tx, session, [writer]);
}

async function insertEvent(
  tx: TenantTx,
  key: TaskKey,
  { revision, status, owner }: TaskState,
  {
    action,
    actor,
    reason,
    run,
    cause,
    notices,
  }: Omit<WrittenChange, 'task' | 'action'> & { readonly action: string },
): Promise<void> {
  const message = notices && JSON.stringify(notices);
  await tx
    .insertInto('team_task_events')
    .values({
      ...ofTask(tx, key),
      revision,
      action,
      actor,
      reason,
      status,
      owner,
      run,
      cause,
      notices: message,
    })
    .execute();
}

/** The columns that show `state` to readers. */
function columnsOf(task: TaskState) {
  const { revision, subject, status, assignee, owner, priority, percent } = task;
  return { revision, subject, status, assignee, owner, priority, percent, state: JSON.stringify(task) };
}
