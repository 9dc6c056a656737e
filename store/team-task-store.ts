/** Tasks' rows as readers ask for them, and what is written beside a task's changes (team-task-record.ts). */
import type { TaskState, TaskStatus } from '#domain/team-task.ts';
import type { MessageContext } from '#domain/turn.ts';
import type { Pool } from './pool.ts';
import type { TaskKey } from './recorded-task.ts';

export interface TeamTaskRow {
  readonly team_key: string;
  readonly number: number;
  readonly subject: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly assignee: string | null;
  readonly owner: string | null;
  readonly priority: number;
  readonly percent: number;
  readonly reason: string | null;
  readonly result: string | null;
  readonly revision: number;
  readonly state: TaskState;
  readonly blocked_by: readonly number[];
  readonly origin_session: string | null;
  readonly origin_turn: string | null;
  readonly origin_context: MessageContext;
  readonly told_by: number | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly started_at: Date | null;
  readonly closed_at: Date | null;
}

export interface TaskFilter {
  readonly statuses?: readonly TaskStatus[] | undefined;
  /** Has it or is to do it. */
  readonly owner?: string | undefined;
  readonly priority?: number | undefined;
  /** Words of subject and description, as in a search box. */
  readonly query?: string | undefined;
}

export interface TaskEventRow {
  readonly id: string;
  readonly number: number;
  readonly revision: number;
  readonly action: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly status: TaskStatus;
  readonly owner: string | null;
  readonly at: Date;
}

export interface CommentRow {
  readonly id: string;
  readonly kind: string;
  readonly author: string;
  readonly text: string;
  readonly created_at: Date;
}

export interface FileRow {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly digest: string;
  readonly author: string;
  readonly created_at: Date;
}

const COLUMNS = `t.team_key, t.number, t.subject, t.description, t.status, t.assignee, t.owner, t.priority, t.percent, t.reason,
  t.result, t.revision, t.state, t.origin_session, t.origin_turn, t.origin_context, t.told_by, t.created_by, t.created_at,
  t.updated_at, t.started_at, t.closed_at, array(select b.blocker from team_task_blockers b where b.tenant_id = t.tenant_id
    and b.team_key = t.team_key and b.number = t.number order by 1) as blocked_by`;

export async function findTask(
  pool: Pool,
  tenant: string,
  team: string,
  number: number,
): Promise<TeamTaskRow | undefined> {
  const { rows } = await pool.query<TeamTaskRow>(
    `select ${COLUMNS} from team_tasks t where t.tenant_id = $1 and t.team_key = $2 and t.number = $3`,
    [tenant, team, number],
  );
  return rows[0];
}

/** Newest first, below the number `before`. */
export async function listTasks(
  pool: Pool,
  tenant: string,
  team: string,
  filter: TaskFilter,
  limit: number,
  before: number | undefined,
): Promise<readonly TeamTaskRow[]> {
  const { rows } = await pool.query<TeamTaskRow>(
    `select ${COLUMNS} from team_tasks t where t.tenant_id = $1 and t.team_key = $2
       and ($3::text[] is null or t.status = any ($3)) and ($4::text is null or t.owner = $4 or t.assignee = $4)
       and ($5::int is null or t.priority = $5)
       and ($6::text is null or t.words @@ websearch_to_tsquery('simple', $6))
       and ($7::int is null or t.number < $7)
     order by t.number desc limit $8`,
    [
      tenant,
      team,
      filter.statuses === undefined ? null : [...filter.statuses],
      filter.owner ?? null,
      filter.priority ?? null,
      filter.query ?? null,
      before ?? null,
      limit,
    ],
  );
  return rows;
}

/** Tasks that the turn has made and whose members wait for its end. */
export async function tasksOfTurn(
  pool: Pool,
  tenant: string,
  turn: string,
): Promise<{ readonly team_key: string; readonly number: number }[]> {
  const { rows } = await pool.query<{ team_key: string; number: number }>({
    name: 'team_tasks_of_turn',
    text: `select team_key, number from team_tasks where tenant_id = $1 and origin_turn = $2
             and state -> 'released' = 'false' order by number`,
    values: [tenant, turn],
  });
  return rows;
}

/** All of a request that the same task speaks for, by number. */
export async function tasksToldBy(
  pool: Pool,
  tenant: string,
  team: string,
  teller: number,
): Promise<readonly TeamTaskRow[]> {
  const { rows } = await pool.query<TeamTaskRow>(
    `select ${COLUMNS} from team_tasks t where t.tenant_id = $1 and t.team_key = $2 and t.told_by = $3
       and t.origin_turn = (select origin_turn from team_tasks where tenant_id = $1 and team_key = $2 and number = $3)
     order by t.number limit 200`,
    [tenant, team, teller],
  );
  return rows;
}

/** Results of what the task has waited for, which its member is given. */
export async function blockersOf(
  pool: Pool,
  tenant: string,
  team: string,
  number: number,
): Promise<readonly Pick<TeamTaskRow, 'number' | 'subject' | 'owner' | 'status' | 'result'>[]> {
  const { rows } = await pool.query<TeamTaskRow>(
    `select t.number, t.subject, t.owner, t.status, t.result from team_tasks t join team_task_blockers b
       on b.tenant_id = t.tenant_id and b.team_key = t.team_key and b.blocker = t.number
     where t.tenant_id = $1 and t.team_key = $2 and b.number = $3 order by t.number`,
    [tenant, team, number],
  );
  return rows;
}

/** A text that an update brings; unseen until the task's workflow has taken it. */
export async function writeText(
  pool: Pool,
  [tenant, team, number]: TaskKey,
  text: { readonly id: string; readonly author: string; readonly text: string },
): Promise<void> {
  await pool.query(
    `insert into team_comments (tenant_id, id, team_key, number, author, text) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing`,
    [tenant, text.id, team, number, text.author, text.text],
  );
}

/** Oldest first, after the one with this id. */
export async function listComments(
  pool: Pool,
  [tenant, team, number]: TaskKey,
  limit: number,
  after: readonly [created: string, id: string] | undefined,
): Promise<readonly (CommentRow & { readonly created_text: string })[]> {
  const { rows } = await pool.query<CommentRow & { created_text: string }>(
    `select id, kind, author, text, created_at, created_at::text as created_text from team_comments
     where tenant_id = $1 and team_key = $2 and number = $3 and revision is not null
       and ($4::timestamptz is null or (created_at, id) > ($4, $5))
     order by created_at, id limit $6`,
    [tenant, team, number, after?.[0] ?? null, after?.[1] ?? null, limit],
  );
  return rows;
}

/** Newest first, below `before`; of one task when it is named. */
export async function listTaskEvents(
  pool: Pool,
  tenant: string,
  team: string,
  number: number | undefined,
  limit: number,
  before: number | undefined,
): Promise<readonly TaskEventRow[]> {
  const { rows } = await pool.query<TaskEventRow>(
    `select id, number, revision, action, actor, reason, status, owner, at from team_task_events
     where tenant_id = $1 and team_key = $2 and ($3::int is null or number = $3) and ($4::bigint is null or id < $4)
     order by id desc limit $5`,
    [tenant, team, number ?? null, before ?? null, limit],
  );
  return rows;
}

/** Bytes once by digest, and their place at the task; unseen until the task's workflow has taken it. */
export async function writeFile(
  pool: Pool,
  [tenant, team, number]: TaskKey,
  file: {
    readonly id: string;
    readonly name: string;
    readonly author: string;
    readonly digest: string;
    readonly bytes: Buffer;
  },
): Promise<void> {
  await pool.query(
    `with kept as (insert into files (tenant_id, digest, bytes) values ($1, $2, $3) on conflict do nothing)
     insert into team_task_files (tenant_id, id, team_key, number, digest, name, size, author)
       values ($1, $4, $5, $6, $2, $7, $8, $9) on conflict do nothing`,
    [tenant, file.digest, file.bytes, file.id, team, number, file.name, file.bytes.length, file.author],
  );
}

export async function listFiles(pool: Pool, [tenant, team, number]: TaskKey): Promise<readonly FileRow[]> {
  const { rows } = await pool.query<FileRow>(
    `select id, name, size, digest, author, created_at from team_task_files
     where tenant_id = $1 and team_key = $2 and number = $3 and revision is not null order by created_at, id limit 200`,
    [tenant, team, number],
  );
  return rows;
}

export async function readFileBytes(
  pool: Pool,
  [tenant, team, number]: TaskKey,
  id: string,
): Promise<{ readonly name: string; readonly bytes: Buffer } | undefined> {
  const { rows } = await pool.query<{ name: string; bytes: Buffer }>(
    `select f.name, b.bytes from team_task_files f join files b on b.tenant_id = f.tenant_id and b.digest = f.digest
     where f.tenant_id = $1 and f.team_key = $2 and f.number = $3 and f.id = $4 and f.revision is not null`,
    [tenant, team, number, id],
  );
  return rows[0];
}
