/** Tasks' rows as readers query them, and writes besides a task's changes (team-task-record.ts). */
import { hasUnspacedWords } from '#domain/text/search-terms.ts';
import { sql } from 'kysely';
import type { TaskStatus, TaskOrder } from '#domain/team/team-task.ts';
import type { TaskKey } from './recorded-task.ts';
import { execute, readRow, readRows, type RowOf } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import type { Stored } from '#domain/schema/scalars.ts';
import type { taskCommentSchema } from '#domain/schema/team-task.ts';

export interface TeamTaskRow extends RowOf<'team_tasks', 'words' | 'create_key'> {
  readonly blocked_by: readonly number[];
}

export interface TaskFilter {
  readonly statuses?: readonly TaskStatus[] | undefined;
  /** The member that holds it or should do it. */
  readonly owner?: string | undefined;
  readonly priority?: number | undefined;
  /** Words of subject and description, in the form of a search box. */
  readonly query?: string | undefined;
  /** Pages by `before` support only `newest`. */
  readonly order?: TaskOrder | undefined;
}

export type TaskEventRow = RowOf<'team_task_events', 'team_key' | 'run' | 'cause' | 'notices' | 'refusal'>;

export type CommentRow = Stored<typeof taskCommentSchema>;

export type FileRow = RowOf<'team_task_files', 'team_key' | 'number' | 'revision'>;

const COLUMNS = sql`t.team_key, t.number, t.subject, t.description, t.status, t.assignee, t.owner, t.priority, t.percent, t.reason,
  t.result, t.revision, t.state, t.origin_session, t.origin_turn, t.origin_context, t.announced_by, t.created_by, t.writers, t.created_at,
  t.updated_at, t.refused, t.last_refused - 'key' as last_refused, t.started_at, t.closed_at, array(select b.blocker from team_task_blockers b where b.tenant_id = t.tenant_id
    and b.team_key = t.team_key and b.number = t.number order by 1) as blocked_by`;

export function findTask(db: TenantDb, team: string, number: number): Promise<TeamTaskRow | undefined> {
  return readRow<TeamTaskRow>(db)`
    select ${COLUMNS} from team_tasks t where t.tenant_id = ${db} and t.team_key = ${team}
      and t.number = ${number}`;
}

/** Newest first, below the number `before`; or the most urgent first, and of equal ones the newest. */
export function listTasks(
  db: TenantDb,
  team: string,
  { statuses, owner, priority, query, order = 'newest' }: TaskFilter,
  limit: number,
  before: number | undefined,
): Promise<readonly TeamTaskRow[]> {
  // Full-text search would find such words only as a whole run of letters.
  const parts = query !== undefined && hasUnspacedWords(query) ? query.trim().split(/\s+/u) : null;
  return readRows<TeamTaskRow>(db)`
    select ${COLUMNS} from team_tasks t where t.tenant_id = ${db} and t.team_key = ${team}
       and (${statuses}::text[] is null or t.status = any (${statuses}))
       and (${owner}::text is null or t.owner = ${owner} or t.assignee = ${owner})
       and (${priority}::int is null or t.priority = ${priority})
       and (${query}::text is null or t.words @@ websearch_to_tsquery('simple', ${query})
         or not exists (select from unnest(${parts}::text[]) part
           where strpos(lower(t.subject || ' ' || t.description), lower(part)) = 0) and ${parts}::text[] is not null)
       and (${before}::int is null or t.number < ${before})
     order by case when ${order} = 'priority' then t.priority end desc, t.number desc limit ${limit}`;
}

/** Tasks that the turn has created and whose members wait for its end. */
export async function tasksOfTurn(
  db: TenantDb,
  turn: string,
): Promise<{ readonly team_key: string; readonly number: number }[]> {
  const { rows } = await db.unbound.query<{ team_key: string; number: number }>({
    name: 'team_tasks_of_turn',
    text: `select team_key, number from team_tasks where tenant_id = $1 and origin_turn = $2
             and state -> 'released' = 'false' order by number`,
    values: [db.tenant, turn],
  });
  return rows;
}

/** All tasks of a request that the same task reports, by number. */
export function tasksAnnouncedBy(
  db: TenantDb,
  team: string,
  teller: number,
): Promise<readonly TeamTaskRow[]> {
  return readRows<TeamTaskRow>(db)`
    select ${COLUMNS} from team_tasks t where t.tenant_id = ${db} and t.team_key = ${team}
      and t.announced_by = ${teller} and t.origin_turn = (select origin_turn from team_tasks
         where tenant_id = ${db} and team_key = ${team} and number = ${teller})
     order by t.number limit 200`;
}

/** Results of the tasks that the task waited for, which its member reads. */
export function blockersOf(
  db: TenantDb,
  team: string,
  number: number,
): Promise<readonly Pick<TeamTaskRow, 'number' | 'subject' | 'owner' | 'status' | 'result' | 'writers'>[]> {
  return readRows<TeamTaskRow>(db)`
    select t.number, t.subject, t.owner, t.status, t.result, t.writers from team_tasks t join team_task_blockers b
       on b.tenant_id = t.tenant_id and b.team_key = t.team_key and b.blocker = t.number
     where t.tenant_id = ${db} and t.team_key = ${team} and b.number = ${number} order by t.number`;
}

/** A text for an update; hidden until the task's workflow has accepted it. */
export async function writeText(
  db: TenantDb,
  [team, number]: TaskKey,
  text: { readonly id: string; readonly author: string; readonly text: string },
): Promise<void> {
  await execute(db)`
    insert into team_comments (tenant_id, id, team_key, number, author, text)
      values (${db}, ${text.id}, ${team}, ${number}, ${text.author}, ${text.text})
     on conflict do nothing`;
}

export interface BroughtIds {
  readonly text: string;
  readonly description: string;
  readonly file: string;
}

/** Deletes the texts and files of a refused request. */
export async function deleteUntaken(db: TenantDb, ids: BroughtIds): Promise<void> {
  await execute(db)`
    with texts as (delete from team_comments
      where tenant_id = ${db} and id in (${ids.text}, ${ids.description}) and revision is null)
    delete from team_task_files where tenant_id = ${db} and id = ${ids.file} and revision is null`;
}

/** Oldest first, after the one with this id. */
export function listComments(
  db: TenantDb,
  [team, number]: TaskKey,
  limit: number,
  after: readonly [created: string, id: string] | undefined,
): Promise<readonly (CommentRow & { readonly created_text: string })[]> {
  return readRows<CommentRow & { created_text: string }>(db)`
    select id, kind, author, text, created_at, created_at::text as created_text from team_comments
     where tenant_id = ${db} and team_key = ${team} and number = ${number} and revision is not null
       and (${after?.[0]}::timestamptz is null or (created_at, id) > (${after?.[0]}, ${after?.[1]}))
     order by created_at, id limit ${limit}`;
}

/** Newest first, below `before`; of one task when it is named. */
export function listTaskEvents(
  db: TenantDb,
  team: string,
  number: number | undefined,
  limit: number,
  before: number | undefined,
): Promise<readonly TaskEventRow[]> {
  return readRows<TaskEventRow>(db)`
    select id, number, revision, action, actor, reason, status, owner, at from team_task_events
     where tenant_id = ${db} and team_key = ${team} and (${number}::int is null or number = ${number})
       and (${before}::bigint is null or id < ${before})
     order by id desc limit ${limit}`;
}

/** The last event that cancelled the task by the action `cancel`; undefined when it was cancelled by a rejection. */
export async function findCancel(
  db: TenantDb,
  [team, number]: TaskKey,
): Promise<{ readonly actor: string; readonly revision: number } | undefined> {
  const last = await readRow<{ action: string; actor: string; revision: number }>(db)`
    select action, actor, revision from team_task_events
     where tenant_id = ${db} and team_key = ${team} and number = ${number} and refusal = 0
       and status = 'cancelled' and action in ('cancel', 'reject')
     order by revision desc limit 1`;
  return last?.action === 'cancel' ? last : undefined;
}

/** Stores the bytes once by digest, and attaches them to the task; hidden until the task's workflow has accepted it. */
export async function writeFile(
  db: TenantDb,
  [team, number]: TaskKey,
  file: {
    readonly id: string;
    readonly name: string;
    readonly author: string;
    readonly digest: string;
    readonly bytes: Buffer;
  },
): Promise<void> {
  await execute(db)`
    with kept as (insert into files (tenant_id, digest, bytes) values (${db}, ${file.digest}, ${file.bytes})
      on conflict (tenant_id, digest) do update set needed_at = now(), bytes = coalesce(files.bytes, excluded.bytes))
     insert into team_task_files (tenant_id, id, team_key, number, digest, name, size, author)
       values (${db}, ${file.id}, ${team}, ${number}, ${file.digest}, ${file.name}, ${file.bytes.length},
         ${file.author}) on conflict do nothing`;
}

export function listFiles(db: TenantDb, [team, number]: TaskKey): Promise<readonly FileRow[]> {
  return readRows<FileRow>(db)`select id, name, size, digest, author, created_at from team_task_files
     where tenant_id = ${db} and team_key = ${team} and number = ${number} and revision is not null
       order by created_at, id limit 200`;
}

export function readFileBytes(
  db: TenantDb,
  [team, number]: TaskKey,
  id: string,
): Promise<{ readonly name: string; readonly bytes: Buffer } | undefined> {
  return readRow<{ name: string; bytes: Buffer }>(db)`
    select f.name, b.bytes from team_task_files f join files b on b.tenant_id = f.tenant_id and b.digest = f.digest
     where f.tenant_id = ${db} and f.team_key = ${team} and f.number = ${number} and f.id = ${id}
       and f.revision is not null`;
}
