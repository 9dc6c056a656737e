/**
 * Writes the SQL functions of `functions/` into the database. Each file contains one whole function, so that a change
 * reads as a change and not as a second definition in a later migration.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

const FOLDER = new URL('../functions/', import.meta.url);

/** Any number that no other advisory lock of this database uses; node-pg-migrate's is 7241865325823964. */
const LOCK = 7_241_865_325_823_965n;

interface FunctionSet {
  readonly digest: string;
  readonly names: readonly string[];
  readonly sql: string;
}

async function readFunctions(): Promise<FunctionSet> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql')).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, FOLDER), 'utf8')));
  const sql = texts.join('\n');
  return {
    digest: createHash('sha256').update(sql).digest('hex'),
    names: files.map((file) => file.slice(0, -'.sql'.length)),
    sql,
  };
}

/** The old definitions are dropped first, because `create or replace` refuses another type of a parameter or result. */
const DROP = `
  do $drop$ declare f regprocedure; begin
    for f in select p.oid::regprocedure from pg_proc p
      where p.pronamespace = current_schema()::regnamespace and p.proname = any (%NAMES%)
    loop execute 'drop function ' || f; end loop;
  end $drop$`;

/**
 * Resolves with whether anything changed. One transaction: callers see the old set or the new one. Safe to repeat and
 * to run concurrently. The last release that starts decides, so parameters stay compatible within a release.
 */
export async function applyFunctions(databaseUrl: string): Promise<boolean> {
  const set = await readFunctions();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    const { rows } = await client.query<{ digest: string }>('select digest from function_set');
    if (rows[0]?.digest === set.digest) return false;
    const names = set.names.map((name) => pg.escapeLiteral(name)).join(', ');
    await client.query('set local check_function_bodies = off');
    await client.query(DROP.replace('%NAMES%', `array[${names}]`));
    await client.query(set.sql);
    await client.query(
      'insert into function_set (digest) values ($1) on conflict (singleton) do update set digest = excluded.digest',
      [set.digest],
    );
    await client.query('commit');
    return true;
  } finally {
    await client.end();
  }
}
