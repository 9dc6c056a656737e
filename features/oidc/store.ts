/** Refresh tokens, sealed. A person has one: that of the last login. */
import type { Sealer } from '#store/seal.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export interface RefreshRow {
  readonly tenant_id: string;
  readonly person_id: string;
  readonly issuer: string;
  readonly sealed: string;
}

/** Rows that one process refreshes at a time. */
const BATCH = 20;

export async function putRefresh(
  db: TenantDb,
  sealer: Sealer,
  {
    person,
    issuer,
    token,
    due,
  }: Readonly<Record<'person' | 'issuer' | 'token', string>> & { readonly due: Date },
): Promise<void> {
  const sealed = sealer.seal(token, refreshPlace(db.tenant, person));
  await execute(db)`
    insert into oidc_refreshes (tenant_id, person_id, issuer, sealed, key_id, due_at)
     values (${db}, ${person}, ${issuer}, ${sealed}, ${sealer.keyId}, ${due})
     on conflict (tenant_id, person_id) do update set issuer = excluded.issuer, sealed = excluded.sealed,
       key_id = excluded.key_id, due_at = excluded.due_at, held_until = null`;
}

/** Replaces the token that was taken, unless a login has replaced it, or it is gone with its person. */
export async function replaceRefresh(
  db: TenantDb,
  sealer: Sealer,
  { person_id, sealed }: RefreshRow,
  { token, due }: { readonly token: string; readonly due: Date },
): Promise<void> {
  await execute(db)`
    update oidc_refreshes set sealed = ${sealer.seal(token, refreshPlace(db.tenant, person_id))}, key_id = ${sealer.keyId},
       due_at = ${due}, held_until = null
     where tenant_id = ${db} and person_id = ${person_id} and sealed = ${sealed}`;
}

/** Takes those that are due, of all tenants: people of one process wait for no other tenant's. */
export function takeDueRefreshes(pool: Pool): Promise<RefreshRow[]> {
  return readRows<RefreshRow>(pool)`
    update oidc_refreshes r set held_until = now() + interval '30 seconds'
     where (tenant_id, person_id) in (select tenant_id, person_id from oidc_refreshes
       where due_at <= now() and (held_until is null or held_until < now()) order by due_at limit ${BATCH} for update skip locked)
     returning tenant_id, person_id, issuer, sealed`;
}

/** Lets the token that was taken be tried again soon. */
export async function releaseRefresh(db: TenantDb, { person_id, sealed }: RefreshRow): Promise<void> {
  await execute(db)`
    update oidc_refreshes set held_until = now() + interval '3 seconds'
     where tenant_id = ${db} and person_id = ${person_id} and sealed = ${sealed}`;
}

/** Deletes the token that was taken, unless a login has replaced it. */
export async function deleteRefresh(db: TenantDb, { person_id, sealed }: RefreshRow): Promise<void> {
  await execute(db)`
    delete from oidc_refreshes where tenant_id = ${db} and person_id = ${person_id} and sealed = ${sealed}`;
}

export function refreshPlace(tenant: string, person: string): string {
  return `${tenant}/oidc_refreshes/${person}`;
}
