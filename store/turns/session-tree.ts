/** What a session has given to others, and they in turn: subagents, delegations, judges and tasks of teams. */
import { sql } from 'kysely';
import { taskSessionKey } from '#domain/team/team.ts';
import type { WORK_KINDS } from '#domain/schema/step.ts';
import { readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

/** A piece of work that a session gave away. Times are as Postgres reads them. */
export interface WorkRow {
  readonly kind: (typeof WORK_KINDS)[number];
  readonly id: string;
  readonly parent: string;
  readonly call_id: string | null;
  readonly session_key: string | null;
  readonly agent: string | null;
  readonly label: string;
  readonly status: string;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

/** Who reads: null for every user's. */
type Reader = string | null;

/** The rounds of an evaluation have sessions of their own. */
const ASSIGNMENT = sql`a.kind, a.id, a.origin_session as parent, a.origin_call as call_id,
  case when a.kind <> 'evaluation' then a.session_key end as session_key, a.target_key as agent, a.label, a.status,
  a.created_at, a.started_at, a.ended_at`;

/** What calls of a session gave to other sessions, oldest first. */
export function listWorkOfCalls(
  db: TenantDb,
  session: string,
  calls: readonly string[],
  reader: Reader,
): Promise<WorkRow[]> {
  return readRows<WorkRow>(db)`
    select ${ASSIGNMENT} from assignments a where a.tenant_id = ${db} and a.origin_session = ${session}
      and a.origin_call = any (${[...calls]}::text[]) and (${reader}::text is null or a.user_id = ${reader})
    order by a.created_at, a.id`;
}

/** The work that those of these sessions gave that the reader sees, oldest first. */
async function listWork(
  db: TenantDb,
  sessions: readonly string[],
  reader: Reader,
  limit: number,
): Promise<WorkRow[]> {
  const rows = await readRows<WorkRow>(db)`
    with given as (select key from sessions s where s.tenant_id = ${db} and s.key = any (${[...sessions]}::text[])
      and (${reader}::text is null or s.user_id = ${reader}))
    select * from (
      select ${ASSIGNMENT}
      from given join assignments a on a.tenant_id = ${db} and a.origin_session = given.key
      where ${reader}::text is null or a.user_id = ${reader}
      union all
      select case when s.bound_context #>> '{delegation,id}' in (
          select id from assignments e where e.tenant_id = ${db} and e.kind = 'evaluation' and e.origin_session = given.key)
        then 'round' else 'gate' end, s.key, given.key, null, s.key, s.agent_key, coalesce(s.title, s.key),
        coalesce(last.status, 'queued'), s.created_at, last.started_at, last.ended_at
      from given join sessions s on s.tenant_id = ${db} and s.bound_context #>> '{delegation,session}' = given.key
      left join lateral (select status, started_at, ended_at from turns t
        where t.tenant_id = ${db} and t.session_key = s.key order by created_at desc limit 1) last on true
      where (${reader}::text is null or s.user_id = ${reader})
        and not exists (select from assignments a where a.tenant_id = ${db} and a.session_key = s.key)
      union all
      select 'task', k.team_key || '/' || k.number, given.key, null, null, coalesce(k.owner, k.assignee), k.subject, k.status,
        k.created_at, k.started_at, k.closed_at
      from given join turns t on t.tenant_id = ${db} and t.session_key = given.key
        join team_tasks k on k.tenant_id = ${db} and k.origin_turn = t.id) work
    order by created_at, id limit ${limit}`;
  return rows.map(withTaskSession);
}

/** The session where the member that has a task works on it. */
function withTaskSession(row: WorkRow): WorkRow {
  if (row.kind !== 'task' || row.agent === null) return row;
  const [team = '', number] = row.id.split('/');
  return { ...row, session_key: taskSessionKey(team, Number(number), row.agent) };
}

export interface SessionSums {
  readonly key: string;
  readonly turn_id: string | null;
  readonly steps: number;
  readonly tokens: string;
  readonly cost_usd: string | null;
}

/** The first turn of each session that exists, and the sums over all its turns. */
export async function sumSessions(
  db: TenantDb,
  keys: readonly string[],
  reader: Reader,
): Promise<ReadonlyMap<string, SessionSums>> {
  const rows = await readRows<SessionSums>(db)`
    select s.key, (array_agg(t.id order by t.created_at))[1] as turn_id, coalesce(sum(t.steps), 0)::int as steps,
      coalesce(sum(t.input_tokens + t.output_tokens), 0) as tokens, sum(t.cost_usd) as cost_usd
    from sessions s left join turns t on t.tenant_id = s.tenant_id and t.session_key = s.key
    where s.tenant_id = ${db} and s.key = any (${[...keys]}::text[]) and (${reader}::text is null or s.user_id = ${reader})
    group by s.key`;
  return new Map(rows.map((row) => [row.key, row]));
}

type TreeNode = WorkRow & { readonly depth: number };

const MAX_NODES = 1_000;
const MAX_DEPTH = 20;

/** Everything below a session, each behind its parent; at most 1000. One query a level. */
export async function readSessionTree(db: TenantDb, root: string, reader: Reader) {
  const children = new Map<string, TreeNode[]>();
  let level: readonly string[] = [root];
  let count = 0;
  for (let depth = 1; level.length > 0 && depth <= MAX_DEPTH && count <= MAX_NODES; depth += 1) {
    const rows = await listWork(db, level, reader, MAX_NODES + 1 - count);
    count += rows.length;
    for (const row of rows)
      children.set(row.parent, [...(children.get(row.parent) ?? []), { ...row, depth }]);
    // A session that works for two, such as a member with two tasks of one lead, has its own work below the first.
    level = [...new Set(rows.flatMap(({ session_key: key }) => key ?? []))].filter(
      (key) => key !== root && !children.has(key),
    );
  }
  const ordered: TreeNode[] = [];
  const add = (parent: string): void => {
    const below = children.get(parent) ?? [];
    children.delete(parent);
    for (const node of below) {
      ordered.push(node);
      if (node.session_key) add(node.session_key);
    }
  };
  add(root);
  const data = ordered.slice(0, MAX_NODES);
  const sums = await sumSessions(
    db,
    data.flatMap(({ session_key: key }) => key ?? []),
    reader,
  );
  return {
    data: data.map((node) => withSums(node, sums)),
    truncated: count > MAX_NODES || level.length > 0,
  };
}

/** A session that does not exist yet, or that belongs to another user, is left out. */
export function withSums<Row extends WorkRow>(row: Row, sums: ReadonlyMap<string, SessionSums>) {
  const { key, ...sum } = sums.get(row.session_key ?? '') ?? NOTHING;
  return { ...row, ...sum, session_key: key };
}

const NOTHING = { key: null, turn_id: null, steps: 0, tokens: '0', cost_usd: null };
