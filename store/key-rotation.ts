/** Rows that contain sealed values of any subject: which keys they need, and resealing them with a new key. */
import type { Pool } from './postgres/pool.ts';
import type { RowParts, SealedRows } from './row-parts.ts';

/** Tables whose rows outlive a call. */
function tablesOf(parts: RowParts): readonly SealedRows[] {
  const secrets = { table: 'secrets', place: `tenant_id || '/secrets/' || name` };
  return [secrets, ...parts.flatMap(({ sealedRows }) => sealedRows ?? [])];
}

/** Rows that one transaction reseals. */
const BATCH = 100;

/** Number of rows that each key sealed, by key id. Empty before the tables exist. */
export async function countSealedRows(pool: Pool, parts: RowParts): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { table } of tablesOf(parts)) {
    const known = await pool.query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [
      table,
    ]);
    if (!known.rows[0]?.is_there) continue;
    const { rows } = await pool.query<{ key_id: string; count: string }>(
      `select key_id, count(*) from ${table} where key_id is not null group by key_id`,
    );
    for (const { key_id, count } of rows) counts.set(key_id, (counts.get(key_id) ?? 0) + Number(count));
  }
  return counts;
}

/**
 * Passes every row with another key to `reseal` and writes the result; resolves with the number of rows written. A row
 * that somebody changes meanwhile is skipped. Safe to repeat and to run concurrently.
 */
export async function resealRows(
  pool: Pool,
  parts: RowParts,
  keyId: string,
  reseal: (sealed: string, place: string) => string,
): Promise<number> {
  let written = 0;
  for (const { table, place } of tablesOf(parts)) {
    let after = '';
    for (;;) {
      const { rows } = await pool.query<{ place: string; sealed: string }>(
        `select ${place} as place, sealed from ${table} where key_id <> $1 and ${place} > $2 order by 1 limit ${BATCH}`,
        [keyId, after],
      );
      const last = rows.at(-1);
      if (!last) break;
      after = last.place;
      const { rowCount } = await pool.query(
        `update ${table} set sealed = new.sealed, key_id = $1
         from unnest($2::text[], $3::text[], $4::text[]) as new (place, old, sealed)
         where ${place} = new.place and ${table}.sealed = new.old`,
        [
          keyId,
          rows.map((row) => row.place),
          rows.map((row) => row.sealed),
          rows.map((row) => reseal(row.sealed, row.place)),
        ],
      );
      written += rowCount ?? 0;
    }
  }
  return written;
}
