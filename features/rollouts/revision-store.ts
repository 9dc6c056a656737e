/** All revisions of an agent, as they were written. */
import { sql } from 'kysely';
import type { AgentConfig } from '#domain/agent.ts';
import { readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export interface RevisionRow {
  readonly revision: number;
  readonly current: boolean;
  readonly in_rollout: boolean;
  readonly digest: string;
  readonly fields: readonly string[];
  readonly created_by: string | null;
  readonly created_at: Date;
}

export interface WholeRevisionRow extends RevisionRow {
  readonly config: AgentConfig;
}

const COLUMNS = sql`r.revision, r.revision = a.revision as current,
  coalesce(r.revision = (a.rollout ->> 'revision')::int, false) as in_rollout,
  encode(sha256(convert_to(r.config::text, 'UTF8')), 'hex') as digest, r.created_by, r.created_at,
  array(select coalesce(n.key, o.key) from jsonb_each(r.config) n full join jsonb_each(p.config) o on o.key = n.key
    where n.value is distinct from o.value and p.config is not null order by 1) as fields`;

const ROWS = sql`agent_revisions r join agents a on a.tenant_id = r.tenant_id and a.key = r.agent_key and a.deleted_at is null
  left join lateral (select p.config from agent_revisions p where p.tenant_id = r.tenant_id and p.agent_key = r.agent_key
    and p.revision < r.revision order by p.revision desc limit 1) p on true`;

/** Newest first. */
export function listRevisions(
  db: TenantDb,
  key: string,
  limit: number,
  before: number | undefined,
): Promise<RevisionRow[]> {
  return readRows<RevisionRow>(db)`
    select ${COLUMNS} from ${ROWS} where r.tenant_id = ${db} and r.agent_key = ${key}
      and (${before ?? null}::int is null or r.revision < ${before ?? null})
    order by r.revision desc limit ${limit}`;
}

export function findRevision(
  db: TenantDb,
  key: string,
  revision: number,
): Promise<WholeRevisionRow | undefined> {
  return readRow<WholeRevisionRow>(db)`
    select ${COLUMNS}, r.config from ${ROWS}
    where r.tenant_id = ${db} and r.agent_key = ${key} and r.revision = ${revision}`;
}

/** The newest revision before another; undefined when there is none. */
export function findRevisionBefore(
  db: TenantDb,
  key: string,
  revision: number,
): Promise<WholeRevisionRow | undefined> {
  return readRow<WholeRevisionRow>(db)`
    select ${COLUMNS}, r.config from ${ROWS}
    where r.tenant_id = ${db} and r.agent_key = ${key} and r.revision < ${revision} order by r.revision desc limit 1`;
}
