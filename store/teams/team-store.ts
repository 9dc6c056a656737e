/** Rows of teams: their leads, members and settings; and the messages between members. */
import { sql } from 'kysely';
import type { Team } from '#domain/team/team.ts';
import { affects, execute, readRow, readRows } from '../postgres/statements.ts';
import type { Db } from '../postgres/database.ts';
import type { TenantDb, TenantTx } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { teamChangeSchema } from '#domain/resource/teams.ts';

export interface TeamRow extends Team {
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface TeamMessageRow {
  readonly id: string;
  readonly sender: string;
  readonly addressee: string;
  readonly text: string;
  readonly created_at: Date;
}

const COLUMNS = sql`t.key, t.name, t.description, t.lead, t.settings, t.created_at, t.updated_at,
  array(select m.agent_key from team_members m where m.tenant_id = t.tenant_id and m.team_key = t.key order by 1) as members`;

export type TeamWritten =
  | { readonly kind: 'written' }
  | { readonly kind: 'taken' }
  | { readonly kind: 'lead_is_member'; readonly lead: string }
  | { readonly kind: 'unknown_agents'; readonly agents: readonly string[] };

/** Creates a team, or a deleted one again; the numbers of its tasks continue. */
export async function insertTeam(db: TenantDb, team: Team, by: string): Promise<TeamWritten> {
  const agents = await unknownAgents(db, [team.lead, ...team.members]);
  if (agents.length > 0) return { kind: 'unknown_agents', agents };
  const isMade = await affects(db)`with made as (
       insert into teams (tenant_id, key, name, description, lead, settings, created_by)
         values (${db}, ${team.key}, ${team.name}, ${team.description}, ${team.lead},
           ${JSON.stringify(team.settings)}, ${by})
       on conflict (tenant_id, key) do update set name = excluded.name, description = excluded.description,
         lead = excluded.lead, settings = excluded.settings, created_by = excluded.created_by, deleted_at = null,
         created_at = now(), updated_at = now() where teams.deleted_at is not null
       returning key),
     gone as (
       delete from team_members where tenant_id = ${db} and team_key = (select key from made)
         and not agent_key = any (${[...team.members]})),
     joined as (
       insert into team_members (tenant_id, team_key, agent_key)
       select ${db}, made.key, m from made, unnest(${[...team.members]}::text[]) m on conflict do nothing)
     select key from made`;
  return { kind: isMade ? 'written' : 'taken' };
}

async function unknownAgents(db: TenantDb<Db>, keys: readonly string[]): Promise<string[]> {
  const rows = await readRows<{ key: string }>(db)`
    select k as key from unnest(${[...keys]}::text[]) k where not exists
       (select 1 from agents a where a.tenant_id = ${db} and a.key = k and a.deleted_at is null)`;
  return rows.map(({ key }) => key);
}

export type TeamChange = Kept<typeof teamChangeSchema>;

/** Absent fields stay. Undefined when the team does not exist. */
export function changeTeam(db: TenantDb, key: string, change: TeamChange): Promise<TeamWritten | undefined> {
  return inTransaction(db, async (tx) => {
    // A statement of its own, so that the next one sees what this one has waited for.
    await execute(tx)`select from teams where tenant_id = ${tx} and key = ${key} for update`;
    const now = await findTeam(tx, key);
    if (!now) return undefined;
    const { lead, members } = { ...now, ...change };
    return members.includes(lead) ? { kind: 'lead_is_member', lead } : writeChange(tx, key, change);
  });
}

async function writeChange(db: TenantTx, key: string, change: TeamChange): Promise<TeamWritten | undefined> {
  const named = [...(change.lead === undefined ? [] : [change.lead]), ...(change.members ?? [])];
  const agents = await unknownAgents(db, named);
  if (agents.length > 0) return { kind: 'unknown_agents', agents };
  const { name, description, lead } = change;
  const members = change.members && [...change.members];
  const settings = change.settings && JSON.stringify(change.settings);
  const isChanged = await affects(db)`with changed as (
       update teams set lead = coalesce(${lead}, lead), settings = coalesce(${settings}, settings), updated_at = now(),
         name = case when ${name !== undefined} then ${name} else name end,
         description = case when ${description !== undefined} then ${description} else description end
       where tenant_id = ${db} and key = ${key} and deleted_at is null returning key),
     gone as (
       delete from team_members where tenant_id = ${db} and team_key = ${key}
         and ${members}::text[] is not null and not agent_key = any (${members}) and exists (select 1 from changed)),
     come as (
       insert into team_members (tenant_id, team_key, agent_key)
       select ${db}, changed.key, m from changed, unnest(${members}::text[]) m on conflict do nothing)
     select key from changed`;
  return isChanged ? { kind: 'written' } : undefined;
}

export function findTeam(db: TenantDb<Db>, key: string): Promise<TeamRow | undefined> {
  return readRow<TeamRow>(db)`
    select ${COLUMNS} from teams t where t.tenant_id = ${db} and t.key = ${key} and t.deleted_at is null`;
}

/** Teams in the order of their keys, after `after`. */
export function listTeams(
  db: TenantDb,
  limit: number,
  after: string | undefined,
): Promise<readonly TeamRow[]> {
  return readRows<TeamRow>(db)`
    select ${COLUMNS} from teams t where t.tenant_id = ${db} and t.deleted_at is null and t.key > ${after ?? ''}
      order by t.key limit ${limit}`;
}

/** The teams that the agent leads or is a member of, at most 20. */
export function teamsOf(db: TenantDb, agent: string): Promise<readonly TeamRow[]> {
  return readRows<TeamRow>(db)`
    select ${COLUMNS} from teams t where t.tenant_id = ${db} and t.deleted_at is null and (t.lead = ${agent} or exists
      (select 1 from team_members m where m.tenant_id = ${db} and m.team_key = t.key and m.agent_key = ${agent}))
     order by t.key limit 20`;
}

/** False when the team does not exist. Its tasks stay readable. */
export function deleteTeam(db: TenantDb, key: string): Promise<boolean> {
  return affects(db)`
    update teams set deleted_at = now() where tenant_id = ${db} and key = ${key} and deleted_at is null`;
}

export async function insertTeamMessage(
  db: TenantDb,
  team: string,
  message: Pick<TeamMessageRow, 'id' | 'sender' | 'addressee' | 'text'>,
): Promise<void> {
  await execute(db)`
    insert into team_messages (tenant_id, id, team_key, sender, addressee, text)
      values (${db}, ${message.id}, ${team}, ${message.sender}, ${message.addressee}, ${message.text})
     on conflict do nothing`;
}

/** Oldest first; the same statement marks them as read. `left` are those that are still unread (TE-5). */
export async function readTeamMessages(
  db: TenantDb,
  team: string,
  addressee: string,
  limit: number,
): Promise<{ readonly messages: readonly TeamMessageRow[]; readonly left: number }> {
  const rows = await readRows<TeamMessageRow & { unread: number }>(db)`with unread as (
       select id, count(*) over ()::int as unread from team_messages
       where tenant_id = ${db} and team_key = ${team} and addressee = ${addressee} and read_at is null
       order by created_at, id limit ${limit})
     update team_messages m set read_at = now() from unread
       where m.tenant_id = ${db} and m.id = unread.id
     returning m.id, m.sender, m.addressee, m.text, m.created_at, unread.unread`;
  const messages = rows.toSorted((one, other) => one.created_at.getTime() - other.created_at.getTime());
  return { messages, left: (rows[0]?.unread ?? 0) - rows.length };
}
