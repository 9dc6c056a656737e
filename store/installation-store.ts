import type { Pool } from './pool.ts';

/** The id that the database was made with; a copy of the database has the same. */
export async function readInstallation(pool: Pick<Pool, 'query'>): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('select id from installation');
  const [row] = rows;
  if (!row) throw new Error('the database does not say of which installation it is');
  return row.id;
}
