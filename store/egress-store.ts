/** Exchanges with the outside: the egress code writes them, people read them. */
import type { Pool } from './postgres/pool.ts';
import { execute, readRows, type RowOf } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';

export type EgressRow = RowOf<'egress_requests'>;
export type NewEgressRow = Omit<EgressRow, 'id' | 'created_at' | 'bytes'> & {
  readonly tenant: string;
  readonly bytes: number;
};

export async function insertEgressRow(pool: Pool, row: NewEgressRow): Promise<void> {
  await execute(pool)`
    insert into egress_requests (tenant_id, purpose, call_id, method, host, status, bytes, milliseconds, problem)
    values (${row.tenant}, ${row.purpose}, ${row.call_id}, ${row.method}, ${row.host}, ${row.status}, ${row.bytes},
            ${row.milliseconds}, ${row.problem})`;
}

export interface EgressFilter {
  readonly call_id?: string | undefined;
  readonly host?: string | undefined;
  readonly purpose?: string | undefined;
}

/** Newest first; `beforeId` is the last one of the previous page. */
export function listEgressRows(
  db: TenantDb,
  { call_id, host, purpose }: EgressFilter,
  limit: number,
  beforeId: number | undefined,
): Promise<EgressRow[]> {
  return readRows<EgressRow>(db)`
    select id, purpose, call_id, method, host, status, bytes, milliseconds, problem, created_at from egress_requests
     where tenant_id = ${db} and (${beforeId}::bigint is null or id < ${beforeId})
       and (${call_id}::text is null or call_id = ${call_id}) and (${purpose}::text is null or purpose = ${purpose})
       and (${host}::text is null or host = ${host} or host like ${host} || ':%')
     order by id desc limit ${limit}`;
}

/** Counts of all tenants in the last minutes, for metrics. */
export interface EgressCount {
  readonly purpose: string;
  /** `answered`, or the problem. */
  readonly outcome: string;
  readonly requests: number;
  readonly bytes: number;
}

export function countEgress(pool: Pool, minutes: number): Promise<EgressCount[]> {
  return readRows<EgressCount>(pool)`
    select purpose, coalesce(problem, 'answered') as outcome, count(*)::int as requests, sum(bytes)::float8 as bytes
     from egress_requests where created_at > now() - make_interval(mins => ${minutes}) group by 1, 2`;
}
