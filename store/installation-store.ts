import type { Pool } from './postgres/pool.ts';

/** The id of the database, made when it was created; a copy of the database has the same id. */
export async function readInstallation(pool: Pick<Pool, 'query'>): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('select id from installation');
  const [row] = rows;
  if (!row) throw new Error('the database does not say of which installation it is');
  return row.id;
}
