/** Programs with credentials as rows: rules in the open, the environment sealed. */
import type { CliEnvKind, SecureCli } from '#domain/secure-cli/secure-cli.ts';
import { noteChange } from './change-feed.ts';
import type { Pool } from './pool.ts';

/** What the sealed part holds. */
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

/** Of a tenant: all of them are in the memory of each process that works for it. */
export const MAX_SECURE_CLIS = 100;

const COLUMNS = 'name, config, sealed, updated_by, created_at, updated_at';

export function secureCliPlace(tenant: string, name: string): string {
  return `${tenant}/secure_cli_binaries/${name}`;
}

/** Makes or replaces it; undefined when it would be one too many. Safe to run again. */
export async function putSecureCli(
  pool: Pool,
  tenant: string,
  { cli, sealed, keyId, by }: NewSecureCli,
): Promise<SecureCliRow | undefined> {
  const { name, ...config } = cli;
  const { rows } = await pool.query<SecureCliRow>(
    `with saved as (
       insert into secure_cli_binaries (tenant_id, name, config, sealed, key_id, updated_by)
       select $1, $2, $3, $4, $5, $6
       where exists (select from secure_cli_binaries where tenant_id = $1 and name = $2)
          or (select count(*) from secure_cli_binaries where tenant_id = $1) < ${MAX_SECURE_CLIS}
       on conflict (tenant_id, name) do update set config = excluded.config, sealed = excluded.sealed,
         key_id = excluded.key_id, updated_by = excluded.updated_by, updated_at = now()
       returning ${COLUMNS}),
     ${noteChange('secrets', 'saved')}
     select ${COLUMNS} from saved`,
    [tenant, name, JSON.stringify(config), sealed, keyId, by],
  );
  return rows[0];
}

/** False when there was none. */
export async function deleteSecureCli(pool: Pool, tenant: string, name: string): Promise<boolean> {
  const { rows } = await pool.query(
    `with gone as (delete from secure_cli_binaries where tenant_id = $1 and name = $2 returning name),
     ${noteChange('secrets', 'gone')}
     select name from gone`,
    [tenant, name],
  );
  return rows.length > 0;
}

export async function findSecureCli(
  pool: Pool,
  tenant: string,
  name: string,
): Promise<SecureCliRow | undefined> {
  const { rows } = await pool.query<SecureCliRow>(
    `select ${COLUMNS} from secure_cli_binaries where tenant_id = $1 and name = $2`,
    [tenant, name],
  );
  return rows[0];
}

/** All of a tenant's, in order of name. */
export async function listSecureClis(pool: Pool, tenant: string): Promise<SecureCliRow[]> {
  const { rows } = await pool.query<SecureCliRow>({
    name: 'list_secure_clis',
    text: `select ${COLUMNS} from secure_cli_binaries where tenant_id = $1 order by name`,
    values: [tenant],
  });
  return rows;
}
