/** Links between agents (DE-1), and the agents that one may delegate to. */
import { sql } from 'kysely';
import type { AgentLink } from '#domain/agent-link.ts';
import type { Pool } from './pool.ts';
import { affects, readRow, readRows } from './statements.ts';

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
  pool: Pool,
  tenant: string,
  link: NewAgentLink,
  by: string,
): Promise<AgentLinkRow | 'there' | 'no_agent'> {
  const made = await readRow<AgentLinkRow>(pool)`
    insert into agent_links (tenant_id, id, source_key, target_key, direction, status, max_concurrent, settings,
      description, created_by)
     select ${tenant}, ${link.id}, ${link.source}, ${link.target}, ${link.direction}, ${link.status},
       ${link.max_concurrent}, ${JSON.stringify(link.settings)}, ${link.description}, ${by}
     where (select count(*) from agents where tenant_id = ${tenant} and key in (${link.source}, ${link.target})
       and deleted_at is null) = 2
     on conflict (tenant_id, source_key, target_key) do nothing returning ${COLUMNS}`;
  if (made) return made;
  const isThere = await affects(pool)`
    select 1 from agent_links where tenant_id = ${tenant} and source_key = ${link.source}
      and target_key = ${link.target}`;
  return isThere ? 'there' : 'no_agent';
}

export type AgentLinkChange = Pick<
  NewAgentLink,
  'direction' | 'status' | 'max_concurrent' | 'settings' | 'description'
>;

/** Changes only the fields that are present; undefined when the link does not exist. */
export function updateAgentLink(
  pool: Pool,
  tenant: string,
  id: string,
  change: Partial<AgentLinkChange>,
): Promise<AgentLinkRow | undefined> {
  const { direction, status, max_concurrent, description } = change;
  const settings = change.settings === undefined ? null : JSON.stringify(change.settings);
  return readRow<AgentLinkRow>(pool)`
    update agent_links set direction = coalesce(${direction}, direction), status = coalesce(${status}, status),
      max_concurrent = coalesce(${max_concurrent}, max_concurrent), settings = coalesce(${settings}, settings),
      description = case when ${description !== undefined} then ${description} else description end, updated_at = now()
    where tenant_id = ${tenant} and id = ${id} returning ${COLUMNS}`;
}

export function findAgentLink(pool: Pool, tenant: string, id: string): Promise<AgentLinkRow | undefined> {
  return readRow<AgentLinkRow>(pool)`
    select ${COLUMNS} from agent_links where tenant_id = ${tenant} and id = ${id}`;
}

/** Links by source, then target; `agent` limits them to the links of this agent. */
export function listAgentLinks(
  pool: Pool,
  tenant: string,
  agent: string | undefined,
  limit: number,
  after: string,
): Promise<AgentLinkRow[]> {
  return readRows<AgentLinkRow>(pool)`
    select ${COLUMNS} from agent_links where tenant_id = ${tenant} and id > ${after}
       and (${agent}::text is null or source_key = ${agent} or target_key = ${agent}) order by id limit ${limit}`;
}

/** Work that runs over the link continues. */
export function deleteAgentLink(pool: Pool, tenant: string, id: string): Promise<boolean> {
  return affects(pool)`delete from agent_links where tenant_id = ${tenant} and id = ${id}`;
}

/** The links between two agents in both directions: at most two. */
export function linksBetween(
  pool: Pool,
  tenant: string,
  one: string,
  other: string,
): Promise<readonly AgentLinkRow[]> {
  return readRows<AgentLinkRow>(pool)`
    select ${COLUMNS} from agent_links where tenant_id = ${tenant}
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
  pool: Pool,
  tenant: string,
  source: string,
  limit: number,
  query = '',
): Promise<readonly LinkedAgent[]> {
  return readRows<LinkedAgent>(pool)`
    select distinct on (a.key) a.key, a.config ->> 'name' as name,
      coalesce(a.config ->> 'description', l.description) as description, a.config ->> 'frontmatter' as frontmatter,
      jsonb_build_object('id', l.id, 'source', l.source_key, 'target', l.target_key,
        'direction', l.direction, 'status', l.status, 'max_concurrent', l.max_concurrent, 'settings', l.settings) as link,
      ts_rank(to_tsvector('english', concat_ws(' ', a.key, a.config ->> 'name', a.config ->> 'description', l.description,
        a.config ->> 'frontmatter')), replace(plainto_tsquery('english', ${query})::text, '&', '|')::tsquery) as rank
    from agent_links l join agents a on a.tenant_id = l.tenant_id and a.deleted_at is null
      and a.key = case when l.source_key = ${source} then l.target_key else l.source_key end
    where l.tenant_id = ${tenant} and l.status = 'active' and ((l.source_key = ${source} and l.direction <> 'inbound')
      or (l.target_key = ${source} and l.direction <> 'outbound'))
    order by a.key, l.id limit ${limit}`;
}
