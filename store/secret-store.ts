/** Secrets as rows: names people may list, values sealed. Nothing here opens one. */
import { noteChange } from './change-feed.ts';
import type { Pool } from './pool.ts';

export interface SecretRow {
  readonly name: string;
  readonly updated_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface SealedSecret {
  readonly name: string;
  /** Bound to `secretPlace(tenant, name)`. */
  readonly sealed: string;
}

export interface NewSecret extends SealedSecret {
  readonly keyId: string;
  readonly by: string;
}

/** Of a tenant: all of them are in the memory of each process that works for it. */
export const MAX_SECRETS = 500;

const COLUMNS = 'name, updated_by, created_at, updated_at';

/** What a secret's ciphertext is bound to: moved to another row or tenant it does not open. */
export function secretPlace(tenant: string, name: string): string {
  return `${tenant}/secrets/${name}`;
}

/** Makes or replaces it; undefined when it would be one too many. Safe to run again. */
export async function putSecret(
  pool: Pool,
  tenant: string,
  secret: NewSecret,
): Promise<SecretRow | undefined> {
  const { rows } = await pool.query<SecretRow>(
    `with saved as (
       insert into secrets (tenant_id, name, sealed, key_id, updated_by)
       select $1, $2, $3, $4, $5
       where exists (select from secrets where tenant_id = $1 and name = $2)
          or (select count(*) from secrets where tenant_id = $1) < ${MAX_SECRETS}
       on conflict (tenant_id, name) do update set sealed = excluded.sealed, key_id = excluded.key_id,
         updated_by = excluded.updated_by, updated_at = now()
       returning ${COLUMNS}),
     ${noteChange('secrets', 'saved')}
     select ${COLUMNS} from saved`,
    [tenant, secret.name, secret.sealed, secret.keyId, secret.by],
  );
  return rows[0];
}

/** False when there was none. */
export async function deleteSecret(pool: Pool, tenant: string, name: string): Promise<boolean> {
  const { rows } = await pool.query(
    `with gone as (delete from secrets where tenant_id = $1 and name = $2 returning name),
     ${noteChange('secrets', 'gone')}
     select name from gone`,
    [tenant, name],
  );
  return rows.length > 0;
}

export async function listSecrets(
  pool: Pool,
  tenant: string,
  limit: number,
  after: string,
): Promise<SecretRow[]> {
  const { rows } = await pool.query<SecretRow>(
    `select ${COLUMNS} from secrets where tenant_id = $1 and name > $2 order by name limit $3`,
    [tenant, after, limit],
  );
  return rows;
}

/** All of a tenant's, sealed. */
export async function readSealedSecrets(pool: Pool, tenant: string): Promise<SealedSecret[]> {
  const { rows } = await pool.query<SealedSecret>({
    name: 'read_sealed_secrets',
    text: 'select name, sealed from secrets where tenant_id = $1',
    values: [tenant],
  });
  return rows;
}
