/** Links between agents (DE-1), and the agents that one may delegate to. */
import { sql } from 'kysely';
import type { AgentLink } from '#domain/assignment/agent-link.ts';
import { affects, readRow, readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface NewAgentLink extends AgentLink {
  readonly description: string | null;
}

export interface AgentLinkRow extends NewAgentLink {
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = sql`id, source_key as source, target_key as target, direction, status, max_concurrent, settings, description,
  created_by, created_at, updated_at`;

/** `there`: the two agents have a link already; `no_agent`: one of them does not exist. */
export async function insertAgentLink(
  db: TenantDb,
  link: NewAgentLink,
  by: string,
): Promise<AgentLinkRow | 'there' | 'no_agent'> {
  const made = await readRow<AgentLinkRow>(db)`
    insert into agent_links (tenant_id, id, source_key, target_key, direction, status, max_concurrent, settings,
      description, created_by)
     select ${db}, ${link.id}, ${link.source}, ${link.target}, ${link.direction}, ${link.status},
       ${link.max_concurrent}, ${JSON.stringify(link.settings)}, ${link.description}, ${by}
     where (select count(*) from agents where tenant_id = ${db} and key in (${link.source}, ${link.target})
       and deleted_at is null) = 2
     on conflict (tenant_id, source_key, target_key) do nothing returning ${COLUMNS}`;
  if (made) return made;
  const isThere = await affects(db)`
    select 1 from agent_links where tenant_id = ${db} and source_key = ${link.source}
      and target_key = ${link.target}`;
  return isThere ? 'there' : 'no_agent';
}

export type AgentLinkChange = Pick<
  NewAgentLink,
  'direction' | 'status' | 'max_concurrent' | 'settings' | 'description'
>;

/** Changes only the fields that are present; undefined when the link does not exist. */
export function updateAgentLink(
  db: TenantDb,
  id: string,
  change: Partial<AgentLinkChange>,
): Promise<AgentLinkRow | undefined> {
  const { direction, status, max_concurrent, description } = change;
  const settings = change.settings === undefined ? null : JSON.stringify(change.settings);
  return readRow<AgentLinkRow>(db)`
    update agent_links set direction = coalesce(${direction}, direction), status = coalesce(${status}, status),
      max_concurrent = coalesce(${max_concurrent}, max_concurrent), settings = coalesce(${settings}, settings),
      description = case when ${description !== undefined} then ${description} else description end, updated_at = now()
    where tenant_id = ${db} and id = ${id} returning ${COLUMNS}`;
}

export function findAgentLink(db: TenantDb, id: string): Promise<AgentLinkRow | undefined> {
  return readRow<AgentLinkRow>(db)`
    select ${COLUMNS} from agent_links where tenant_id = ${db} and id = ${id}`;
}

/** Links by source, then target; `agent` limits them to the links of this agent. */
export function listAgentLinks(
  db: TenantDb,
  agent: string | undefined,
  limit: number,
  after: string,
): Promise<AgentLinkRow[]> {
  return readRows<AgentLinkRow>(db)`
    select ${COLUMNS} from agent_links where tenant_id = ${db} and id > ${after}
       and (${agent}::text is null or source_key = ${agent} or target_key = ${agent}) order by id limit ${limit}`;
}

/** Work that runs over the link continues. */
export function deleteAgentLink(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`delete from agent_links where tenant_id = ${db} and id = ${id}`;
}

/** The links between two agents in both directions: at most two. */
export function linksBetween(db: TenantDb, one: string, other: string): Promise<readonly AgentLinkRow[]> {
  return readRows<AgentLinkRow>(db)`
    select ${COLUMNS} from agent_links where tenant_id = ${db}
      and ((source_key = ${one} and target_key = ${other}) or (source_key = ${other} and target_key = ${one})) order by id`;
}

/** An agent that another one may delegate to, and the link to it. */
export interface LinkedAgent {
  readonly key: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly frontmatter: string | null;
  readonly link: AgentLink;
  /** Rank of the full-text search; 0 without a query. */
  readonly rank: number;
}

/**
 * Agents in the order of their keys. The caller judges whether its user may use the link. With a query they all have a
 * rank; any of the query's words counts.
 */
export function linkedAgents(
  db: TenantDb,
  source: string,
  limit: number,
  query = '',
): Promise<readonly LinkedAgent[]> {
  return readRows<LinkedAgent>(db)`
    select distinct on (a.key) a.key, a.config ->> 'name' as name,
      coalesce(a.config ->> 'description', l.description) as description, a.config ->> 'frontmatter' as frontmatter,
      jsonb_build_object('id', l.id, 'source', l.source_key, 'target', l.target_key,
        'direction', l.direction, 'status', l.status, 'max_concurrent', l.max_concurrent, 'settings', l.settings) as link,
      ts_rank(to_tsvector('english', concat_ws(' ', a.key, a.config ->> 'name', a.config ->> 'description', l.description,
        a.config ->> 'frontmatter')), replace(plainto_tsquery('english', ${query})::text, '&', '|')::tsquery) as rank
    from agent_links l join agents a on a.tenant_id = l.tenant_id and a.deleted_at is null
      and a.key = case when l.source_key = ${source} then l.target_key else l.source_key end
    where l.tenant_id = ${db} and l.status = 'active' and ((l.source_key = ${source} and l.direction <> 'inbound')
      or (l.target_key = ${source} and l.direction <> 'outbound'))
    order by a.key, l.id limit ${limit}`;
}
