/** Stores programs with credentials: rules in clear text, and the environment sealed. */
import { sql } from 'kysely';
import type { SecureCli } from './rules/secure-cli.ts';
import type { CliEnvKind } from './resource.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';

/** The contents of the sealed part. */
export interface CliVariable {
  readonly name: string;
  readonly kind: CliEnvKind;
  /** May refer to secrets (`secret://NAME`). */
  readonly value: string;
}

export interface SecureCliRow {
  readonly name: string;
  readonly config: Omit<SecureCli, 'name'>;
  /** JSON of CliVariable[], bound to `secureCliPlace(tenant, name)`. */
  readonly sealed: string;
  readonly updated_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface NewSecureCli {
  readonly cli: SecureCli;
  readonly sealed: string;
  readonly keyId: string;
  readonly by: string;
}

/** Programs of a tenant; all of them are in the memory of each process that works for it. */
export const MAX_SECURE_CLIS = 100;

const COLUMNS = sql`name, config, sealed, updated_by, created_at, updated_at`;

export function secureCliPlace(tenant: string, name: string): string {
  return `${tenant}/secure_cli_binaries/${name}`;
}

/**
 * Replaces `old`, or creates it without one. Undefined when another writer was first (each writer seals anew, so that
 * the sealed text says so), or when it would exceed the limit.
 */
export function putSecureCli(
  db: TenantDb,
  { cli, sealed, keyId, by }: NewSecureCli,
  old: SecureCliRow | undefined,
): Promise<SecureCliRow | undefined> {
  const { name, ...config } = cli;
  const written = (tx: TenantTx) =>
    old
      ? sql`update secure_cli_binaries set config = ${JSON.stringify(config)}, sealed = ${sealed}, key_id = ${keyId},
         updated_by = ${by}, updated_at = now()
       where tenant_id = ${tx} and name = ${name} and sealed = ${old.sealed}`
      : sql`insert into secure_cli_binaries (tenant_id, name, config, sealed, key_id, updated_by)
       select ${tx}, ${name}, ${JSON.stringify(config)}, ${sealed}, ${keyId}, ${by}
       where (select count(*) from secure_cli_binaries where tenant_id = ${tx}) < ${MAX_SECURE_CLIS}
       on conflict do nothing`;
  return inTenantLock(
    db,
    (tx) => readRow<SecureCliRow>(tx)`with saved as (${written(tx)} returning ${COLUMNS}),
     ${noteChange(db.tenant, 'secrets', 'saved')}
     select ${COLUMNS} from saved`,
  );
}

/** Returns false when there was none. */
export function deleteSecureCli(db: TenantDb, name: string): Promise<boolean> {
  return affects(db)`
    with gone as (delete from secure_cli_binaries where tenant_id = ${db} and name = ${name} returning name),
     ${noteChange(db.tenant, 'secrets', 'gone')}
     select name from gone`;
}

export function findSecureCli(db: TenantDb, name: string): Promise<SecureCliRow | undefined> {
  return readRow<SecureCliRow>(db)`
    select ${COLUMNS} from secure_cli_binaries where tenant_id = ${db} and name = ${name}`;
}

/** All of a tenant's programs, in order of name. */
export function listSecureClis(db: TenantDb): Promise<SecureCliRow[]> {
  return readRows<SecureCliRow>(db)`
    select ${COLUMNS} from secure_cli_binaries where tenant_id = ${db} order by name`;
}
