/** Tenants and their API keys. Only hashes of secrets are stored. */
import { sql } from 'kysely';
import type { Db } from './postgres/database.ts';
import type { Pool } from './postgres/pool.ts';
import { affects, execute, readRow, readRows } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';
import { inTenantLock } from './postgres/transaction.ts';

export interface ApiKeyRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly name: string;
  readonly user_id: string | null;
  readonly hash: Buffer;
  readonly scopes: readonly string[];
  /** Groups of a person of an identity provider; none for a key with a secret. */
  readonly groups: readonly string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** Why its tenant is frozen; null when it is not. */
  readonly frozen_for: string | null;
}

export interface NewApiKey {
  readonly id: string;
  readonly name: string;
  readonly user: string | null;
  /** sha256 of the whole secret. */
  readonly hash: Buffer;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
}

const COLUMNS = sql`tenant_id, id, name, user_id, hash, scopes, groups, created_at, expires_at, revoked_at,
  (select frozen_for from tenants where tenants.id = tenant_id)`;

/**
 * The key with this hash, of any tenant. This is the only read without a tenant, because the key determines the tenant.
 */
export function findApiKeyByHash(pool: Pool, hash: Buffer): Promise<ApiKeyRow | undefined> {
  return readRow<ApiKeyRow>(pool)`select ${COLUMNS} from api_keys where hash = ${hash}`;
}

export async function insertApiKey(db: TenantDb<Db>, key: NewApiKey): Promise<ApiKeyRow> {
  const row = await readRow<ApiKeyRow>(db)`
    insert into api_keys (tenant_id, id, name, user_id, hash, scopes, expires_at)
     values (${db}, ${key.id}, ${key.name}, ${key.user}, ${key.hash}, ${key.scopes}, ${key.expiresAt})
       returning ${COLUMNS}`;
  if (!row) throw new Error('the insert of an API key returned no row');
  return row;
}

/** A person of an identity provider, as a token describes them: a key that no secret opens. */
export interface PersonKey extends Omit<NewApiKey, 'expiresAt' | 'user'> {
  readonly user: string;
  readonly groups: readonly string[];
  /** When the token was issued, and when it ends. */
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

const newest = (column: string) =>
  sql`case when k.issued_at <= excluded.issued_at then ${sql.ref(`excluded.${column}`)} else ${sql.ref(`k.${column}`)} end`;

/**
 * Keeps what the newest token of a person says; an older token changes nothing. It is in force until the last token has
 * ended, and never again after it was revoked. Undefined when there is no such tenant, or no such key and it is only
 * renewed: a person who was forgotten meanwhile does not come back. Safe to repeat.
 */
export async function putPersonKey(
  db: TenantDb,
  key: PersonKey,
  isRenewed: boolean,
): Promise<ApiKeyRow | undefined> {
  await execute(db)`
    with held as (select id from api_keys where tenant_id = ${db} and id = ${key.id} for no key update)
    insert into api_keys as k (tenant_id, id, name, user_id, hash, scopes, groups, issued_at, expires_at)
     select id, ${key.id}, ${key.name}, ${key.user}, ${key.hash}::bytea, ${key.scopes}::text[], ${key.groups}::text[],
       ${key.issuedAt}::timestamptz, ${key.expiresAt}::timestamptz from tenants where id = ${db} and (not ${isRenewed}::boolean or exists (select from held))
     on conflict (tenant_id, id) do update set user_id = ${newest('user_id')}, scopes = ${newest('scopes')},
       groups = ${newest('groups')}, issued_at = ${newest('issued_at')}, expires_at = greatest(k.expires_at, excluded.expires_at)
     where k.expires_at < excluded.expires_at or (k.issued_at <= excluded.issued_at
       and (k.user_id, k.scopes, k.groups, k.issued_at) is distinct from
         (excluded.user_id, excluded.scopes, excluded.groups, excluded.issued_at))`;
  return readRow<ApiKeyRow>(db)`select ${COLUMNS} from api_keys where tenant_id = ${db} and id = ${key.id}`;
}

/** Creates the first key of a tenant; undefined when another process has just created one. Safe to repeat. */
export function insertFirstApiKey(db: TenantDb, key: NewApiKey): Promise<ApiKeyRow | undefined> {
  return inTenantLock(
    db,
    (tx) => readRow<ApiKeyRow>(tx)`
     insert into api_keys (tenant_id, id, name, user_id, hash, scopes, expires_at)
     select ${tx}, ${key.id}, ${key.name}, ${key.user}, ${key.hash}::bytea, ${key.scopes}::text[], ${key.expiresAt}::timestamptz
     where not exists (select 1 from api_keys where tenant_id = ${tx} and revoked_at is null
       and 'admin' = any (scopes) and (expires_at is null or expires_at > now()))
     returning ${COLUMNS}`,
  );
}

/** Whether the key is neither revoked nor expired. */
export function isKeyInForce(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`
    select 1 from api_keys where tenant_id = ${db} and id = ${id} and revoked_at is null
       and (expires_at is null or expires_at > now())`;
}

/** Those of the keys that are neither revoked nor expired. */
export async function keysInForce(
  pool: Pool,
  keys: readonly { readonly tenant: string; readonly id: string }[],
): Promise<readonly { readonly tenant: string; readonly id: string }[]> {
  const rows = await readRows<{ tenant_id: string; id: string }>(pool)`
    select k.tenant_id, k.id from unnest(${keys.map((key) => key.tenant)}::text[], ${keys.map((key) => key.id)}::text[])
      as w (tenant, id)
    join api_keys k on k.tenant_id = w.tenant and k.id = w.id
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;
  return rows.map(({ tenant_id: tenant, id }) => ({ tenant, id }));
}

/** Whether anybody can administer the tenant. */
export function hasAdminKey(db: TenantDb): Promise<boolean> {
  return affects(db)`
    select 1 from api_keys where tenant_id = ${db} and revoked_at is null and 'admin' = any (scopes)
       and (expires_at is null or expires_at > now()) limit 1`;
}

export function listApiKeys(db: TenantDb, limit: number, after: string): Promise<ApiKeyRow[]> {
  return readRows<ApiKeyRow>(db)`
    select ${COLUMNS} from api_keys where tenant_id = ${db} and id > ${after} order by id limit ${limit}`;
}

/** Revokes a key and returns it; undefined when the tenant has no such key. Revoking twice keeps the first time. */
export function revokeApiKey(db: TenantDb, id: string): Promise<ApiKeyRow | undefined> {
  return readRow<ApiKeyRow>(db)`
    update api_keys set revoked_at = coalesce(revoked_at, now()) where tenant_id = ${db} and id = ${id}
      returning ${COLUMNS}`;
}

export interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

/** Returns the tenant when it is new; undefined when it existed. */
export function insertTenant(db: Db, id: string, name: string): Promise<TenantRow | undefined> {
  return readRow<TenantRow>(db)`
    insert into tenants (id, name) values (${id}, ${name}) on conflict do nothing returning id, name, created_at`;
}

export function listTenants(pool: Pool, limit: number, after: string): Promise<TenantRow[]> {
  return readRows<TenantRow>(pool)`
    select id, name, created_at from tenants where id > ${after} order by id limit ${limit}`;
}
