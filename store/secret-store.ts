/** Secrets as rows: names that people may list, and sealed values. This module opens none. */
import { sql } from 'kysely';
import { noteChange } from './postgres/change-feed.ts';
import { affects, readRow, readRows } from './postgres/statements.ts';
import type { TenantDb } from './postgres/tenant-db.ts';
import { inTenantLock } from './postgres/transaction.ts';
import type { Stored } from '#domain/schema/scalars.ts';
import type { secretSchema } from '#domain/resource/secrets.ts';

export type SecretRow = Stored<typeof secretSchema>;

export interface SealedSecret {
  readonly name: string;
  /** Bound to `secretPlace(tenant, name)`. */
  readonly sealed: string;
}

export interface NewSecret extends SealedSecret {
  readonly keyId: string;
  readonly by: string;
}

/** Greatest number of a tenant's secrets: each process that works for the tenant keeps all of them in memory. */
export const MAX_SECRETS = 500;

const COLUMNS = sql`name, updated_by, created_at, updated_at`;

/** The place that a secret's ciphertext is bound to: it does not open in another row or tenant. */
export function secretPlace(tenant: string, name: string): string {
  return `${tenant}/secrets/${name}`;
}

/** Creates or replaces a secret; undefined when the limit is reached. Safe to repeat. */
export function putSecret(db: TenantDb, secret: NewSecret): Promise<SecretRow | undefined> {
  return inTenantLock(
    db,
    (tx) => readRow<SecretRow>(tx)`with saved as (
       insert into secrets (tenant_id, name, sealed, key_id, updated_by)
       select ${tx}, ${secret.name}, ${secret.sealed}, ${secret.keyId}, ${secret.by}
       where exists (select from secrets where tenant_id = ${tx} and name = ${secret.name})
          or (select count(*) from secrets where tenant_id = ${tx}) < ${MAX_SECRETS}
       on conflict (tenant_id, name) do update set sealed = excluded.sealed, key_id = excluded.key_id,
         updated_by = excluded.updated_by, updated_at = now()
       returning ${COLUMNS}),
     ${noteChange(db.tenant, 'secrets', 'saved')}
     select ${COLUMNS} from saved`,
  );
}

/** False when there was none. */
export function deleteSecret(db: TenantDb, name: string): Promise<boolean> {
  return affects(db)`
    with gone as (delete from secrets where tenant_id = ${db} and name = ${name} returning name),
     ${noteChange(db.tenant, 'secrets', 'gone')}
     select name from gone`;
}

/** Those of the names that are set. */
export async function findSecretNames(db: TenantDb, names: readonly string[]): Promise<readonly string[]> {
  const rows = await readRows<Pick<SecretRow, 'name'>>(db)`
    select name from secrets where tenant_id = ${db} and name = any(${names}::text[])`;
  return rows.map(({ name }) => name);
}

export function listSecrets(db: TenantDb, limit: number, after: string): Promise<SecretRow[]> {
  return readRows<SecretRow>(db)`
    select ${COLUMNS} from secrets where tenant_id = ${db} and name > ${after} order by name limit ${limit}`;
}

/** All secrets of a tenant, sealed. */
export function readSealedSecrets(db: TenantDb): Promise<SealedSecret[]> {
  return readRows<SealedSecret>(db)`select name, sealed from secrets where tenant_id = ${db}`;
}
