/** Stores what users give for programs that run with each user's own credentials. */
import { MAX_LOGINS, type WaitingLogin } from '#store/approvals/approval-logins.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';

export interface UserCredentialsRow {
  readonly name: string;
  readonly user_id: string;
  /** JSON of UserVariables, bound to `userCredentialsPlace`. */
  readonly sealed: string;
  readonly given_at: Date;
}

export type UserVariables = Readonly<Record<string, string>>;

/** Of a tenant, because all of them are in the memory of each process that works for it. */
const MAX_OF_TENANT = 2_000;

export function userCredentialsPlace(tenant: string, name: string, user: string): string {
  return `${tenant}/secure_cli_credentials/${name}/${user}`;
}

/** Creates or replaces them; false when the program is gone, or the tenant has too many. Safe to repeat. */
export function putUserCredentials(
  db: TenantDb,
  { name, user, sealed, keyId }: Record<'name' | 'user' | 'sealed' | 'keyId', string>,
): Promise<boolean> {
  return inTenantLock(
    db,
    (tx) => affects(tx)`with saved as (
       insert into secure_cli_credentials (tenant_id, name, user_id, sealed, key_id, given_at)
       select ${tx}, name, ${user}, ${sealed}, ${keyId}, clock_timestamp() from secure_cli_binaries b
       where tenant_id = ${tx} and name = ${name} and (
         exists (select from secure_cli_credentials c where c.tenant_id = ${tx} and c.name = b.name and c.user_id = ${user})
         or (select count(*) from secure_cli_credentials where tenant_id = ${tx}) < ${MAX_OF_TENANT})
       on conflict (tenant_id, name, user_id) do update set sealed = excluded.sealed, key_id = excluded.key_id,
         given_at = excluded.given_at
       returning name),
     ${noteChange(db.tenant, 'secrets', 'saved')}
     select name from saved`,
  );
}

/** Returns false when there were none. */
export function deleteUserCredentials(db: TenantDb, name: string, user: string): Promise<boolean> {
  return affects(db)`
    with gone as (delete from secure_cli_credentials where tenant_id = ${db} and name = ${name} and user_id = ${user}
      returning name),
     ${noteChange(db.tenant, 'secrets', 'gone')}
     select name from gone`;
}

export function findUserCredentials(
  db: TenantDb,
  name: string,
  user: string,
): Promise<UserCredentialsRow | undefined> {
  return readRow<UserCredentialsRow>(db)`
    select name, user_id, sealed, given_at from secure_cli_credentials
    where tenant_id = ${db} and name = ${name} and user_id = ${user}`;
}

export function listUserCredentials(db: TenantDb): Promise<UserCredentialsRow[]> {
  return readRows<UserCredentialsRow>(db)`
    select name, user_id, sealed, given_at from secure_cli_credentials where tenant_id = ${db}`;
}

/**
 * For the sweep, over all tenants: approvals whose user has given them since, or in the moment before they were created,
 * when a call had seen none yet.
 */
export function endedLogins(pool: Pool): Promise<WaitingLogin[]> {
  return readRows<WaitingLogin>(pool)`
    select a.tenant_id as tenant, a.id as approval, a.user_id as user from approvals a
    join secure_cli_credentials c on c.tenant_id = a.tenant_id and c.name = a.form ->> 'server' and c.user_id = a.user_id
    where a.status = 'pending' and a.form ->> 'login' = 'program' and c.given_at > a.created_at - interval '1 minute'
      and a.tenant_id not in (select id from tenants where frozen_at is not null) limit ${MAX_LOGINS}`;
}
