/** Links between agents (DE-1), and the agents that one may delegate to. */
import type { AgentLink, LinkDirection, LinkStatus } from '#domain/agent-link.ts';
import type { Pool } from './pool.ts';

export interface AgentLinkRow extends AgentLink {
  readonly description: string | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface NewAgentLink {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly direction: LinkDirection;
  readonly status: LinkStatus;
  readonly max_concurrent: number;
  readonly settings: unknown;
  readonly description: string | null;
}

const COLUMNS = `id, source_key as source, target_key as target, direction, status, max_concurrent, settings, description,
  created_by, created_at, updated_at`;

/** `there`: the two have a link already; `no_agent`: one of them does not exist. */
export async function insertAgentLink(
  pool: Pool,
  tenant: string,
  link: NewAgentLink,
  by: string,
): Promise<AgentLinkRow | 'there' | 'no_agent'> {
  const { rows } = await pool.query<AgentLinkRow>(
    `insert into agent_links (tenant_id, id, source_key, target_key, direction, status, max_concurrent, settings, description,
       created_by)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
     where (select count(*) from agents where tenant_id = $1 and key in ($3, $4) and deleted_at is null) = 2
     on conflict (tenant_id, source_key, target_key) do nothing returning ${COLUMNS}`,
    [
      tenant,
      link.id,
      link.source,
      link.target,
      link.direction,
      link.status,
      link.max_concurrent,
      JSON.stringify(link.settings),
      link.description,
      by,
    ],
  );
  if (rows[0]) return rows[0];
  const { rowCount } = await pool.query(
    'select 1 from agent_links where tenant_id = $1 and source_key = $2 and target_key = $3',
    [tenant, link.source, link.target],
  );
  return rowCount === 1 ? 'there' : 'no_agent';
}

export type AgentLinkChange = Pick<
  NewAgentLink,
  'direction' | 'status' | 'max_concurrent' | 'settings' | 'description'
>;

/** Given fields only; undefined when there is no such link. */
export async function updateAgentLink(
  pool: Pool,
  tenant: string,
  id: string,
  change: Partial<AgentLinkChange>,
): Promise<AgentLinkRow | undefined> {
  const { rows } = await pool.query<AgentLinkRow>(
    `update agent_links set direction = coalesce($3, direction), status = coalesce($4, status),
       max_concurrent = coalesce($5, max_concurrent), settings = coalesce($6, settings),
       description = case when $7 then $8 else description end, updated_at = now()
     where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
    [
      tenant,
      id,
      change.direction ?? null,
      change.status ?? null,
      change.max_concurrent ?? null,
      change.settings === undefined ? null : JSON.stringify(change.settings),
      change.description !== undefined,
      change.description ?? null,
    ],
  );
  return rows[0];
}

export async function findAgentLink(
  pool: Pool,
  tenant: string,
  id: string,
): Promise<AgentLinkRow | undefined> {
  const { rows } = await pool.query<AgentLinkRow>(
    `select ${COLUMNS} from agent_links where tenant_id = $1 and id = $2`,
    [tenant, id],
  );
  return rows[0];
}

/** By source, target; `agent`: those that it is one end of. */
export async function listAgentLinks(
  pool: Pool,
  tenant: string,
  agent: string | undefined,
  limit: number,
  after: string,
): Promise<AgentLinkRow[]> {
  const { rows } = await pool.query<AgentLinkRow>(
    `select ${COLUMNS} from agent_links where tenant_id = $1 and id > $2
       and ($3::text is null or source_key = $3 or target_key = $3) order by id limit $4`,
    [tenant, after, agent ?? null, limit],
  );
  return rows;
}

/** Work that goes over it goes on. */
export async function deleteAgentLink(pool: Pool, tenant: string, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('delete from agent_links where tenant_id = $1 and id = $2', [
    tenant,
    id,
  ]);
  return rowCount === 1;
}

/** The links between two agents, either way round: at most two. */
export async function linksBetween(
  pool: Pool,
  tenant: string,
  one: string,
  other: string,
): Promise<readonly AgentLinkRow[]> {
  const { rows } = await pool.query<AgentLinkRow>({
    name: 'links_between',
    text: `select ${COLUMNS} from agent_links where tenant_id = $1
             and ((source_key = $2 and target_key = $3) or (source_key = $3 and target_key = $2)) order by id`,
    values: [tenant, one, other],
  });
  return rows;
}

/** An agent that another one may delegate to, with the link that leads there. */
export interface LinkedAgent {
  readonly key: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly frontmatter: string | null;
  readonly link: AgentLink;
  /** Of the full-text search; 0 without a query. */
  readonly rank: number;
}

/**
 * By key; whether its users may use the link is for who asks to judge. With a query all of them too, each with its rank:
 * any of the query's words counts.
 */
export async function linkedAgents(
  pool: Pool,
  tenant: string,
  source: string,
  limit: number,
  query = '',
): Promise<readonly LinkedAgent[]> {
  const { rows } = await pool.query<LinkedAgent>({
    name: 'linked_agents',
    text: `select distinct on (a.key) a.key, a.config ->> 'name' as name, coalesce(a.config ->> 'description', l.description) as description,
             a.config ->> 'frontmatter' as frontmatter, jsonb_build_object('id', l.id, 'source', l.source_key, 'target', l.target_key,
               'direction', l.direction, 'status', l.status, 'max_concurrent', l.max_concurrent, 'settings', l.settings) as link,
             ts_rank(to_tsvector('simple', concat_ws(' ', a.key, a.config ->> 'name', a.config ->> 'description', l.description,
               a.config ->> 'frontmatter')), replace(plainto_tsquery('simple', $4)::text, '&', '|')::tsquery) as rank
           from agent_links l join agents a on a.tenant_id = l.tenant_id and a.deleted_at is null
             and a.key = case when l.source_key = $2 then l.target_key else l.source_key end
           where l.tenant_id = $1 and l.status = 'active'
             and ((l.source_key = $2 and l.direction <> 'inbound') or (l.target_key = $2 and l.direction <> 'outbound'))
           order by a.key, l.id limit $3`,
    values: [tenant, source, limit, query],
  });
  return rows;
}
