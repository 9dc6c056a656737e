/**
 * Migrates a database to the newest schema, if it belongs to this version. Many processes may try at once: the first
 * migrates, the others wait.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import manifest from '../../package.json' with { type: 'json' };
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';
import { applyFunctions } from './apply-functions.ts';

/**
 * Migrations are changed in place until the first release, so their texts show whether a database belongs to this
 * version.
 */
const CORE = new URL('../migrations/', import.meta.url);
const TABLE = 'migrations';
/** Any number that no other advisory lock of this database uses (apply-functions.ts). */
const LOCK = 7_241_865_325_823_966n;

/** A feature's migrations run after those of the core and of the features that it needs. */
export type SchemaPart = Pick<Feature, 'name' | 'needs' | 'migrations'>;

/**
 * Resolves with the names of what ran: migrations, and `functions` if the SQL functions changed. Safe to repeat. Throws
 * an error for an operator when the database belongs to another version; then nothing is changed.
 */
export async function migrate(
  databaseUrl: string,
  features: readonly SchemaPart[],
): Promise<readonly string[]> {
  const ran = await asClient(databaseUrl, async (client) => {
    await markNew(client, features);
    const names: string[] = [];
    for (const folder of foldersOf(features)) {
      const made = await runner({
        dbClient: client,
        dir: fileURLToPath(folder),
        direction: 'up',
        migrationsTable: TABLE,
        advisoryLockMode: 'wait',
        // Each folder has its own order.
        checkOrder: false,
        log: () => undefined,
      });
      names.push(...made.map(({ name }) => name));
    }
    return names;
  });
  const changed = await applyFunctions(databaseUrl);
  await asClient(databaseUrl, (client) => client.query('select keep_event_months(null)'));
  return [...ran, ...(changed ? ['functions'] : [])];
}

function foldersOf(features: readonly SchemaPart[]): readonly URL[] {
  return [CORE, ...inOrderOfNeed(features).flatMap(({ migrations }) => migrations ?? [])];
}

/**
 * Says why this version cannot use the database, and what to do; undefined when it can, or when the database is empty.
 */
export function schemaProblem(
  databaseUrl: string,
  features: readonly SchemaPart[],
): Promise<string | undefined> {
  return asClient(databaseUrl, (client) => problemOf(client, features));
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

/** Written into the empty database, so that one whose creation was interrupted still belongs to this version. */
async function markNew(client: pg.Client, features: readonly SchemaPart[]): Promise<void> {
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const problem = await problemOf(client, features);
  if (problem !== undefined) throw new Error(problem);
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('${TABLE}') is not null as there`,
  );
  if (rows[0]?.there) {
    await client.query('commit');
    return;
  }
  // The table as node-pg-migrate creates it.
  await client.query(
    `create table ${TABLE} (id serial primary key, name varchar(255) not null, run_on timestamp not null)`,
  );
  await client.query(`comment on table ${TABLE} is ${pg.escapeLiteral(await schemaMark(features))}`);
  await client.query('commit');
}

async function problemOf(client: pg.Client, features: readonly SchemaPart[]): Promise<string | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    `select obj_description(oid, 'pg_class') as mark from pg_class
     where oid = to_regclass('${TABLE}')`,
  );
  return rows[0] && markProblem(rows[0].mark, features);
}

/** The same for a database that does not run, by its stored mark; null when there is none. */
export async function markProblem(
  mark: string | null,
  features: readonly SchemaPart[],
): Promise<string | undefined> {
  const own = await schemaMark(features);
  if (mark === own) return undefined;
  return (
    `The database was made by ${mark ?? 'an older version'}, and this is ${own}: it cannot be used, and is left as it is. ` +
    'Before the first release no database is brought to another version: start with an empty one (another --state-dir or ' +
    'DATABASE_URL), or with the version that made this one.'
  );
}

/** The mark that this version writes into a database: `TempoClaw 0.1.0, schema 1a2b3c4d`. */
export async function schemaMark(features: readonly SchemaPart[]): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of foldersOf(features))
    for (const file of (await readdir(folder)).toSorted())
      hash.update(file).update(await readFile(new URL(file, folder)));
  return `TempoClaw ${manifest.version}, schema ${hash.digest('hex').slice(0, 8)}`;
}
