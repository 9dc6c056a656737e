/** Brings a database to the newest schema, if it is one of this version's. Many may try at once: the first does it, the others wait. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import manifest from '../package.json' with { type: 'json' };
import { applyFunctions } from './apply-functions.ts';

/** Changed in place until the first release, so that its text says whether a database is of this version. */
const SCHEMA = new URL('./migrations/0001_schema.sql', import.meta.url);
const TABLE = 'migrations';
/** Any number that no other advisory lock of this database uses (apply-functions.ts). */
const LOCK = 7_241_865_325_823_966n;

/**
 * Resolves with the names of what ran: migrations, and `functions` if the SQL functions changed. Safe to run again. Throws, with words
 * for an operator, when the database is another version's; then nothing is changed.
 */
export async function migrate(databaseUrl: string): Promise<readonly string[]> {
  await asClient(databaseUrl, markNew);
  const ran = await runner({
    databaseUrl,
    dir: fileURLToPath(new URL('./migrations', import.meta.url)),
    direction: 'up',
    migrationsTable: TABLE,
    advisoryLockMode: 'wait',
    log: () => undefined,
  });
  const changed = await applyFunctions(databaseUrl);
  return [...ran.map((migration) => migration.name), ...(changed ? ['functions'] : [])];
}

/** Why this version cannot use the database, and what to do; undefined when it can, or when nothing is in it yet. */
export function schemaProblem(databaseUrl: string): Promise<string | undefined> {
  return asClient(databaseUrl, problemOf);
}

async function asClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Before anything is in the database, so that one whose making was cut off is still of this version. */
async function markNew(client: pg.Client): Promise<void> {
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const problem = await problemOf(client);
  if (problem !== undefined) throw new Error(problem);
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('${TABLE}') is not null as there`,
  );
  if (rows[0]?.there) return;
  // The table as node-pg-migrate makes it.
  await client.query(
    `create table ${TABLE} (id serial primary key, name varchar(255) not null, run_on timestamp not null)`,
  );
  await client.query(`comment on table ${TABLE} is ${pg.escapeLiteral(await schemaMark())}`);
  await client.query('commit');
}

async function problemOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    `select obj_description(oid, 'pg_class') as mark from pg_class
     where oid = to_regclass('${TABLE}')`,
  );
  return rows[0] && markProblem(rows[0].mark);
}

/** The same of a database that does not run, by the mark that was kept of it; null when none was. */
export async function markProblem(mark: string | null): Promise<string | undefined> {
  const own = await schemaMark();
  if (mark === own) return undefined;
  return (
    `The database was made by ${mark ?? 'an older version'}, and this is ${own}: it cannot be used, and is left as it is. ` +
    'Before the first release no database is brought to another version: start with an empty one (another --state-dir or ' +
    'DATABASE_URL), or with the version that made this one.'
  );
}

/** What this version marks a database with: `TempoClaw 0.1.0, schema 1a2b3c4d`. */
export async function schemaMark(): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(SCHEMA, 'utf8'))
    .digest('hex');
  return `TempoClaw ${manifest.version}, schema ${digest.slice(0, 8)}`;
}
