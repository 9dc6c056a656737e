/**
 * pgvector's index (HNSW) over memory's vectors, if the database has that extension (docs/decisions/0016). It is made
 * from the rows, so no writer needs to know of it, and a database without it has all the data.
 */
import { sql } from 'kysely';
import pg from 'pg';
import type { Pool } from '#store/postgres/pool.ts';
import { readRow } from '#store/postgres/statements.ts';

/** Before 0.8, an index finds the nearest of all memories first and removes those of others afterwards. */
const OLDEST = '{0,8}';
/**
 * An index is made for this many vectors of one length, and memories with at least this many use it. Fewer are compared
 * as fast without it.
 */
export const LARGE = 20_000;
/**
 * A memory with a smaller part of all would wait for the index to reach it. The index stops at 20,000
 * (hnsw.max_scan_tuples).
 */
const PART = 50;
/** Dimensions of 16-bit floats that pgvector can index. */
const MAX_DIMENSIONS = 4_000;
/** Any number that no other advisory lock of this database uses. */
const LOCK = 7_241_865_325_823_966n;

/**
 * Converts 16-bit floats, little-endian, of IEEE 754. A value that is no number becomes 0, because its row could not be
 * written otherwise. An SQL body keeps what it names, whatever the search path of a restore.
 */
const HALVES = `
  create or replace function halves_of(bytes bytea) returns halfvec language sql immutable strict parallel safe cost 10000
  return (
    select array_agg((1 - high / 128 * 2) * case high / 4 % 32 when 31 then 0 when 0 then (high % 4 * 256 + low) * 2.0::float8 ^ -24
      else (1024 + high % 4 * 256 + low) * 2.0::float8 ^ (high / 4 % 32 - 25) end order by n)
    from (select n, get_byte(bytes, 2 * n) as low, get_byte(bytes, 2 * n + 1) as high
      from generate_series(0, length(bytes) / 2 - 1) n) halves)::real[]::halfvec`;

/**
 * Makes an index for each length that many vectors have; returns their names. It takes minutes for millions, during
 * which reads and writes work as before. Safe to run again, also after an interrupted run, and concurrently: one
 * process does it.
 */
export async function indexVectors(databaseUrl: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'tempoclaw-index' });
  // If the connection breaks between two statements, the next one reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ dimensions: number }>(
      `select length(vector) / 2 as dimensions from memory_vectors
       where (select string_to_array(coalesce(i.extversion, a.default_version), '.')::int[] >= '${OLDEST}'
         from pg_available_extensions a left join pg_extension i on i.extname = a.name where a.name = 'vector')
       group by 1 having count(*) >= $1 and length(vector) / 2 <= $2`,
      [LARGE, MAX_DIMENSIONS],
    );
    if (rows.length === 0) return [];
    const { rows: locks } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [
      LOCK,
    ]);
    if (!locks[0]?.got) return [];
    await client.query('create extension if not exists vector');
    await client.query(HALVES);
    const made: string[] = [];
    for (const { dimensions } of rows)
      if (await indexLength(client, dimensions)) made.push(nameOf(dimensions));
    return made;
  } finally {
    await client.end();
  }
}

/** Returns false when it already exists. */
async function indexLength(client: pg.Client, dimensions: number): Promise<boolean> {
  const name = nameOf(dimensions);
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [name],
  );
  if (rows[0]?.valid) return false;
  // An interrupted run has left it.
  if (rows[0]) await client.query(`drop index ${name}`);
  await client.query(`create index concurrently ${name} on memory_vectors
    using hnsw ((halves_of(vector)::halfvec(${dimensions})) halfvec_cosine_ops) where length(vector) = ${2 * dimensions}`);
  return true;
}

function nameOf(dimensions: number): string {
  return `memory_vectors_near_${dimensions}`;
}

/**
 * Whether the index finds neighbours within a memory, which must be one of the large ones of those that it contains.
 * `own` selects the memory's vectors `c`.
 */
export async function isIndexed(
  pool: Pool,
  dimensions: number,
  own: ReturnType<typeof sql>,
): Promise<boolean> {
  const row = await readRow<{ isLarge: boolean }>(pool)`
    select (select count(*) from (select from memory_vectors c where ${own} limit least) own) >= least as "isLarge"
    from (select greatest(${LARGE}, c.reltuples / ${PART})::bigint as least from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indexrelid = to_regclass(${nameOf(dimensions)}) and i.indisvalid) large`;
  return row?.isLarge ?? false;
}

/** How far a vector `c.vector` is from another, as the index of its length sorts them. */
export function distanceFrom(vector: readonly number[]) {
  const { length } = vector;
  return {
    ofLength: sql`length(c.vector) = ${sql.lit(2 * length)}`,
    distance: sql`halves_of(c.vector)::halfvec(${sql.lit(length)}) <=> ${`[${vector.join(',')}]`}::halfvec(${sql.lit(length)})`,
  };
}
