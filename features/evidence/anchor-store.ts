/** What each anchor has of each chain. */
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/** Longer than an anchor takes. */
const LEASE_SECONDS = 60;
/** Tenants that one look takes. */
const BATCH = 20;
/** A failing anchor is tried again after 2, 4, 8, … seconds, and at least this often. */
const LONGEST_WAIT_SECONDS = 300;

/** Of all tenants that are not frozen: claims those whose head the anchor does not have, and to which it may be sent. */
export async function claimAnchors(pool: Pool, name: string): Promise<readonly string[]> {
  const rows = await readRows<{ tenant_id: string }>(pool)`
    insert into evidence_anchors as a (tenant_id, name, next_at)
    select h.tenant_id, ${name}, now() + make_interval(secs => ${LEASE_SECONDS}) from evidence_heads h
      join tenants t on t.id = h.tenant_id and t.frozen_at is null
      left join evidence_anchors o on o.tenant_id = h.tenant_id and o.name = ${name}
    where h.seq > coalesce(o.seq, 0) and coalesce(o.next_at, '-infinity') <= now() limit ${BATCH}
    on conflict (tenant_id, name) do update set next_at = excluded.next_at where a.next_at <= now()
    returning tenant_id`;
  return rows.map(({ tenant_id }) => tenant_id);
}

export async function recordAnchored(
  db: TenantDb,
  name: string,
  seq: number,
  everySeconds: number,
): Promise<void> {
  await execute(db)`
    update evidence_anchors set seq = greatest(seq, ${seq}), anchored_at = now(), failures = 0, problem = null,
      next_at = now() + make_interval(secs => ${everySeconds})
    where tenant_id = ${db} and name = ${name}`;
}

export async function recordUnanchored(db: TenantDb, name: string, problem: string): Promise<void> {
  await execute(db)`
    update evidence_anchors set failures = failures + 1, problem = ${problem},
      next_at = now() + make_interval(secs => least(power(2, least(failures, 10) + 1), ${LONGEST_WAIT_SECONDS}))
    where tenant_id = ${db} and name = ${name}`;
}

/** Of all tenants: for how many each of the anchors has failed since its last success. */
export async function countFailing(
  pool: Pool,
  names: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const rows = await readRows<{ name: string; failing: number }>(pool)`
    select name, count(*)::int as failing from evidence_anchors where failures > 0 group by name`;
  const found = new Map(rows.map(({ name, failing }) => [name, failing]));
  return Object.fromEntries(names.map((name) => [name, found.get(name) ?? 0]));
}

export interface AnchorRow {
  readonly name: string;
  readonly seq: number;
  readonly anchored_at: Date | null;
  readonly failures: number;
  readonly problem: string | null;
}

export function listAnchors(db: TenantDb): Promise<AnchorRow[]> {
  return readRows<AnchorRow>(db)`
    select name, seq::float8 as seq, anchored_at, failures, problem from evidence_anchors
    where tenant_id = ${db} order by name`;
}
