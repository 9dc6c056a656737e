/** Tenants and their API keys. Only hashes of secrets are kept. */
import type { Pool } from './pool.ts';

export interface ApiKeyRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly name: string;
  readonly user_id: string | null;
  readonly hash: Buffer;
  readonly scopes: readonly string[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
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

const COLUMNS = 'tenant_id, id, name, user_id, hash, scopes, created_at, expires_at, revoked_at';

/** The key with this hash, whichever tenant's: the only read without a tenant, since the key is what names it. */
export async function findApiKeyByHash(pool: Pool, hash: Buffer): Promise<ApiKeyRow | undefined> {
  const { rows } = await pool.query<ApiKeyRow>(`select ${COLUMNS} from api_keys where hash = $1`, [hash]);
  return rows[0];
}

export async function insertApiKey(pool: Pool, tenant: string, key: NewApiKey): Promise<ApiKeyRow> {
  const { rows } = await pool.query<ApiKeyRow>(
    `insert into api_keys (tenant_id, id, name, user_id, hash, scopes, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [tenant, key.id, key.name, key.user, key.hash, key.scopes, key.expiresAt],
  );
  const row = rows[0];
  if (!row) throw new Error('the insert of an API key returned no row');
  return row;
}

/** The first key of a tenant; undefined when another process made one just before. Runs again safely. */
export async function insertFirstApiKey(
  pool: Pool,
  tenant: string,
  key: NewApiKey,
): Promise<ApiKeyRow | undefined> {
  const { rows } = await pool.query<ApiKeyRow>(
    `with held as (select id from tenants where id = $1 for update)
     insert into api_keys (tenant_id, id, name, user_id, hash, scopes, expires_at)
     select held.id, $2, $3, $4, $5, $6, $7 from held
     where not exists (select 1 from api_keys where tenant_id = $1 and revoked_at is null and 'admin' = any (scopes)
                         and (expires_at is null or expires_at > now()))
     returning ${COLUMNS}`,
    [tenant, key.id, key.name, key.user, key.hash, key.scopes, key.expiresAt],
  );
  return rows[0];
}

/** Whether anybody can administer the tenant. */
export async function hasAdminKey(pool: Pool, tenant: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from api_keys where tenant_id = $1 and revoked_at is null and 'admin' = any (scopes)
       and (expires_at is null or expires_at > now()) limit 1`,
    [tenant],
  );
  return rows.length > 0;
}

export async function listApiKeys(
  pool: Pool,
  tenant: string,
  limit: number,
  after: string,
): Promise<ApiKeyRow[]> {
  const { rows } = await pool.query<ApiKeyRow>(
    `select ${COLUMNS} from api_keys where tenant_id = $1 and id > $2 order by id limit $3`,
    [tenant, after, limit],
  );
  return rows;
}

/** The revoked key; undefined when the tenant has no such key. Revoking twice keeps the first time. */
export async function revokeApiKey(pool: Pool, tenant: string, id: string): Promise<ApiKeyRow | undefined> {
  const { rows } = await pool.query<ApiKeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, now()) where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
    [tenant, id],
  );
  return rows[0];
}

export interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

/** The tenant when it is new; undefined when it was there. */
export async function insertTenant(pool: Pool, id: string, name: string): Promise<TenantRow | undefined> {
  const { rows } = await pool.query<TenantRow>(
    'insert into tenants (id, name) values ($1, $2) on conflict do nothing returning id, name, created_at',
    [id, name],
  );
  return rows[0];
}

export async function listTenants(pool: Pool, limit: number, after: string): Promise<TenantRow[]> {
  const { rows } = await pool.query<TenantRow>(
    'select id, name, created_at from tenants where id > $1 order by id limit $2',
    [after, limit],
  );
  return rows;
}
