/**
 * A frozen tenant is still: the API refuses writes, no turn, run of a schedule or delivery begins, no approval is decided
 * or expires, and the sweep passes over it. Then its rows can be moved (features/tenant-move). What has begun goes on.
 */
import { sql } from 'kysely';
import { Failure } from '#domain/errors.ts';
import type { Db } from './postgres/database.ts';
import { noteChange } from './postgres/change-feed.ts';
import { affects, readRow } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';

export interface Freeze {
  /** Why, in words for people; null when it is not frozen. */
  readonly frozen_for: string | null;
  /** Seconds since it was frozen. */
  readonly seconds: number | null;
  /** Its microsecond since 1970; another freeze has another one. */
  readonly frozen_at: string | null;
}

/** A condition on tables with `tenant_id`: the tenant is not frozen. */
export const IS_THAWED = sql`tenant_id not in (select id from tenants where frozen_at is not null)`;

/** Undefined when there is no such tenant. */
export function readFreeze(db: TenantDb<Db>): Promise<Freeze | undefined> {
  return readRow<Freeze>(db)`
    select frozen_for, extract(epoch from clock_timestamp() - frozen_at)::float8 as seconds,
      (extract(epoch from frozen_at) * 1000000)::bigint::text as frozen_at
    from tenants where id = ${db}`;
}

/** Freezes it, or changes why. Notifies every process. Returns false when there is no such tenant. */
export function freezeTenant(db: TenantDb<Db>, why: string): Promise<boolean> {
  return affects(db)`
    with frozen as (update tenants set frozen_at = coalesce(frozen_at, clock_timestamp()), frozen_for = ${why} where id = ${db} returning id),
    ${noteChange(db.tenant, 'tenants', 'frozen')}
    select from frozen, noted`;
}

/** Returns false when it was not frozen. */
export function thawTenant(db: TenantDb<Db>): Promise<boolean> {
  return affects(db)`
    with thawed as (update tenants set frozen_at = null, frozen_for = null where id = ${db} and frozen_at is not null returning id),
    ${noteChange(db.tenant, 'tenants', 'thawed')}
    select from thawed, noted`;
}

/** @throws Failure TenantFrozen */
export async function refuseFrozen(db: TenantDb<Db>): Promise<void> {
  const why = (await readFreeze(db))?.frozen_for ?? null;
  if (why !== null) throw tenantFrozen(db.tenant, why);
}

export function tenantFrozen(tenant: string, why: string): Failure {
  return new Failure(
    'TenantFrozen',
    `The tenant ${tenant} is frozen: ${why}. It can be read, and takes nothing new until its operator ends that; try again later`,
  );
}
