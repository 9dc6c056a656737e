/** Secrets as rows: names people may list, values sealed. Nothing here opens one. */
import { sql } from 'kysely';
import { noteChange } from './change-feed.ts';
import type { Pool } from './pool.ts';
import { affects, readRow, readRows } from './statements.ts';

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

const COLUMNS = sql`name, updated_by, created_at, updated_at`;

/** What a secret's ciphertext is bound to: moved to another row or tenant it does not open. */
export function secretPlace(tenant: string, name: string): string {
  return `${tenant}/secrets/${name}`;
}

/** Makes or replaces it; undefined when it would be one too many. Safe to run again. */
export function putSecret(pool: Pool, tenant: string, secret: NewSecret): Promise<SecretRow | undefined> {
  return readRow<SecretRow>(pool)`with saved as (
       insert into secrets (tenant_id, name, sealed, key_id, updated_by)
       select ${tenant}, ${secret.name}, ${secret.sealed}, ${secret.keyId}, ${secret.by}
       where exists (select from secrets where tenant_id = ${tenant} and name = ${secret.name})
          or (select count(*) from secrets where tenant_id = ${tenant}) < ${MAX_SECRETS}
       on conflict (tenant_id, name) do update set sealed = excluded.sealed, key_id = excluded.key_id,
         updated_by = excluded.updated_by, updated_at = now()
       returning ${COLUMNS}),
     ${noteChange(tenant, 'secrets', 'saved')}
     select ${COLUMNS} from saved`;
}

/** False when there was none. */
export function deleteSecret(pool: Pool, tenant: string, name: string): Promise<boolean> {
  return affects(pool)`
    with gone as (delete from secrets where tenant_id = ${tenant} and name = ${name} returning name),
     ${noteChange(tenant, 'secrets', 'gone')}
     select name from gone`;
}

export function listSecrets(pool: Pool, tenant: string, limit: number, after: string): Promise<SecretRow[]> {
  return readRows<SecretRow>(pool)`
    select ${COLUMNS} from secrets where tenant_id = ${tenant} and name > ${after} order by name limit ${limit}`;
}

/** All of a tenant's, sealed. */
export function readSealedSecrets(pool: Pool, tenant: string): Promise<SealedSecret[]> {
  return readRows<SealedSecret>(pool)`select name, sealed from secrets where tenant_id = ${tenant}`;
}
