/** Calls the SQL functions of `functions/`: one round trip, one row. */
import type { Pool } from './pool.ts';

export type SqlCall = <Result>(name: string, values: readonly unknown[]) => Promise<Result>;

/** Named statements are parsed once a connection. Whether a call may be repeated is said at its function. */
export function createSqlCall(pool: Pool): SqlCall {
  return async <Result>(name: string, values: readonly unknown[]): Promise<Result> => {
    const marks = values.map((_, index) => `$${index + 1}`).join(',');
    const { rows } = await pool.query<{ result: Result }>({
      name,
      text: `select ${name}(${marks}) as result`,
      values: [...values],
    });
    const row = rows[0];
    if (!row) throw new Error(`${name} returned no row`);
    return row.result;
  };
}
