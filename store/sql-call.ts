/** Calls the SQL functions of `functions/`: one round trip, one row. */
import { Failure } from '#domain/errors.ts';
import type { Pool } from './pool.ts';

export type SqlCall = <Result>(name: string, values: readonly unknown[]) => Promise<Result>;

/**
 * Named statements are parsed once a connection. Whether a call may be repeated is said at its function. Throws NotFound where
 * somebody outside has named a tenant that is not there.
 */
export function createSqlCall(pool: Pool): SqlCall {
  return async <Result>(name: string, values: readonly unknown[]): Promise<Result> => {
    const marks = values.map((_, index) => `$${index + 1}`).join(',');
    const { rows } = await pool
      .query<{ result: Result }>({
        name,
        text: `select ${name}(${marks}) as result`,
        values: [...values],
      })
      .catch((error: unknown) => {
        throw isOfNoTenant(error)
          ? new Failure('NotFound', `there is no tenant "${String(values[0])}"`)
          : error;
      });
    const row = rows[0];
    if (!row) throw new Error(`${name} returned no row`);
    return row.result;
  };
}

/** Its session's row cannot be made. */
function isOfNoTenant(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'sessions_tenant_id_fkey';
}
