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

/**
 * The newest revision before another that all sessions had; undefined when there is none. One that a rollout has made, in
 * the transaction of its start, and that was put back, was never for all.
 */
export function findRevisionBefore(
  db: TenantDb,
  key: string,
  revision: number,
): Promise<WholeRevisionRow | undefined> {
  return readRow<WholeRevisionRow>(db)`
    select ${COLUMNS}, r.config from ${ROWS}
    where r.tenant_id = ${db} and r.agent_key = ${key} and r.revision < ${revision} and not exists (
      select from rollout_changes c where c.tenant_id = ${db} and c.agent_key = ${key} and c.revision = r.revision
      group by c.revision
      having bool_or(c.action = 'start' and c.changed_at = r.created_at) and not bool_or(c.action = 'finish'))
    order by r.revision desc limit 1`;
}
