/** Numbers that Postgres gives to rows, which are unique with their tenant, and whose order means something. */
import type { ClientBase } from 'pg';
import type { MovedTable } from './list-tables.ts';

export interface Identity {
  readonly table: string;
  readonly column: string;
  /** The greatest of the tenant. */
  readonly last: string;
}

export async function greatestNumbers(
  client: ClientBase,
  { name, columns, tenant: key }: MovedTable,
  tenant: string,
): Promise<Identity[]> {
  const found: Identity[] = [];
  for (const { name: column } of columns.filter(({ is_identity }) => is_identity)) {
    const { rows } = await client.query<{ last: string | null }>(
      `select max(${column})::text as last from ${name} where ${key} = $1`,
      [tenant],
    );
    if (rows[0]?.last) found.push({ table: name, column, last: rows[0].last });
  }
  return found;
}

/**
 * Numbers that Postgres gives after the transaction are greater. The lock keeps others from taking one meanwhile, so the
 * transaction should do nothing else.
 */
export async function keepNumbers(client: ClientBase, { table, column, last }: Identity): Promise<void> {
  await client.query(`lock table ${table} in share row exclusive mode`);
  await client.query(
    `select setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, nextval(pg_get_serial_sequence($1, $2))))`,
    [table, column, last],
  );
}
