/**
 * Migrates a database to the newest schema. Many processes may try at once: the first migrates, the others wait. The
 * comment of the table of migrations is the database's mark: which version has made or changed it last, and which
 * versions may use it.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import manifest from '../../package.json' with { type: 'json' };
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';
import released from '../released.json' with { type: 'json' };
import { applyFunctions } from './apply-functions.ts';
import { migrateOwn, missingOwnMigrations } from './own-migrations.ts';
import { runFolder } from './run-folder.ts';

const CORE = new URL('../migrations/', import.meta.url);
const TABLE = 'migrations';
/** Any number that no other advisory lock of this database uses (apply-functions.ts). */
const LOCK = 7_241_865_325_823_966n;

/** A feature's migrations run after those of the core and of the features that it needs. */
export type SchemaPart = Pick<Feature, 'name' | 'needs' | 'migrations' | 'own'>;

/**
 * Resolves with the names of what ran: migrations, and `functions` if the SQL functions changed. Safe to repeat. Throws
 * an error for an operator when the database belongs to another version; then nothing is changed.
 */
export async function migrate(
  databaseUrl: string,
  features: readonly SchemaPart[],
): Promise<readonly string[]> {
  const ran = await asClient(databaseUrl, async (client) => {
    if (!(await mark(client, features))) return [];
    const names: string[] = [];
    try {
      for (const folder of foldersOf(features)) names.push(...(await runFolder(client, folder, TABLE)));
    } finally {
      // A version that mends a migration which fails here goes on from what has run.
      await writeMark(client, await appliedOf(client, features)).catch(() => undefined);
    }
    return names;
  });
  const changed = await applyFunctions(databaseUrl);
  const own = await asClient(databaseUrl, (client) => migrateOwn(client, features));
  await asClient(databaseUrl, (client) => client.query('select keep_event_months(null)'));
  return [...ran, ...(changed ? ['functions'] : []), ...own];
}

function foldersOf(features: readonly SchemaPart[]): readonly URL[] {
  const released = inOrderOfNeed(features).filter(({ own }) => !own);
  return [CORE, ...released.flatMap(({ migrations }) => migrations ?? [])];
}

/**
 * Says why this version cannot use the database, and what to do; undefined when it can, or when the database is empty.
 */
export function schemaProblem(
  databaseUrl: string,
  features: readonly SchemaPart[],
): Promise<string | undefined> {
  return asClient(databaseUrl, async (client) => {
    const there = await readDatabase(client);
    return there && problemOf(there, features, 'shared');
  });
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

/**
 * Writes the mark before anything is migrated, so that a database whose migration was interrupted still belongs to this
 * version, which goes on with it. Resolves with false if a later version has migrated the database: nothing is to do.
 */
async function mark(client: pg.Client, features: readonly SchemaPart[]): Promise<boolean> {
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const there = await readDatabase(client);
  const problem = there && (await problemOf(there, features, 'shared'));
  if (problem !== undefined) throw new Error(problem);
  const own = await readMigrations(features);
  const isLater = there?.names.some((name) => !own.some((one) => one.name === name)) ?? false;
  // The table as node-pg-migrate creates it.
  if (!there)
    await client.query(
      `create table ${TABLE} (id serial primary key, name varchar(255) not null, run_on timestamp not null)`,
    );
  if (!isLater) await writeMark(client, own);
  await client.query('commit');
  return !isLater;
}

async function writeMark(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  await client.query(`comment on table ${TABLE} is ${pg.escapeLiteral(markFor(migrations))}`);
}

async function appliedOf(client: pg.Client, features: readonly SchemaPart[]): Promise<readonly Migration[]> {
  const there = await readDatabase(client);
  return (await readMigrations(features)).filter(({ name }) => there?.names.includes(name));
}

interface Schema {
  /** Null when a version before the first release has made the database. */
  readonly mark: string | null;
  /** Names of the migrations that have run, in this order. */
  readonly names: readonly string[];
}

/** Undefined for an empty database. */
async function readDatabase(client: pg.Client): Promise<Schema | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    `select obj_description(oid, 'pg_class') as mark from pg_class
     where oid = to_regclass('${TABLE}')`,
  );
  if (!rows[0]) return undefined;
  const { rows: ran } = await client.query<{ name: string }>(`select name from ${TABLE} order by id`);
  return { mark: rows[0].mark, names: ran.map(({ name }) => name) };
}

/**
 * Why this version cannot use the database, and what to do. A `shared` database may be newer, if its version lets this
 * one work beside it: then old processes go on while new ones start. A state folder's `own` has one version.
 */
export async function problemOf(
  { mark: text, names }: Schema,
  features: readonly SchemaPart[],
  use: 'shared' | 'own',
): Promise<string | undefined> {
  const [, version, schema, oldest] =
    /^TempoClaw (\S+), schema ([0-9a-f]{8})(?:, for (\S+) and later)?$/.exec(text ?? '') ?? [];
  const own = await readMigrations(features);
  const known = own.filter(({ name }) => names.includes(name));
  const made = `The database was made by ${text ?? 'an older version'}, and this is ${await schemaMark(features)}`;
  if (version !== undefined && known.length < names.length) {
    if (use === 'shared' && !isBefore(manifest.version, oldest ?? version)) return undefined;
    const back = use === 'own' ? ', or go back to before its upgrade: tempoclaw up --restore-backup' : '';
    return `${made}, which is older or has fewer features: it cannot be used, and is left as it is. Start TempoClaw ${version} or later${back}.`;
  }
  // Older marks depend on the order in which the migrations ran.
  const asRun = names.flatMap((name) => own.filter((one) => one.name === name));
  // A kill during a migration leaves the mark of what it was to become.
  if ([digestOf(known), digestOf(own), digestInOrder(asRun)].some((one) => one === schema)) return undefined;
  return (
    `${made}: it cannot be used, and is left as it is. Its migrations are not those of a release: start with an empty ` +
    'one (another --state-dir or DATABASE_URL), or with the version that made this one.'
  );
}

/** Compares the numbers of two versions, such as 0.2.0 and 0.10.1. */
function isBefore(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) < 0;
}

/** Names of the migrations that a database lacks; a process that does not migrate cannot use it. */
export function missingMigrations(
  databaseUrl: string,
  features: readonly SchemaPart[],
): Promise<readonly string[]> {
  return asClient(databaseUrl, async (client) => {
    const there = await readDatabase(client);
    const names = migrationNames(await readMigrations(features));
    const missing = names.filter((name) => !there?.names.includes(name));
    return [...missing, ...(await missingOwnMigrations(client, features))];
  });
}

interface Migration {
  readonly name: string;
  readonly file: string;
  readonly text: Buffer;
}

/** In the order in which they run. */
async function readMigrations(features: readonly SchemaPart[]): Promise<readonly Migration[]> {
  const all: Migration[] = [];
  for (const folder of foldersOf(features))
    for (const file of (await readdir(folder)).toSorted())
      all.push({ name: file.replace(/\.sql$/, ''), file, text: await readFile(new URL(file, folder)) });
  return all;
}

function migrationNames(migrations: readonly Migration[]): readonly string[] {
  return migrations.map(({ name }) => name);
}

/** Whatever their order is: it changes when a feature comes to need another. */
function digestOf(migrations: readonly Migration[]): string {
  return digestInOrder(migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
}

function digestInOrder(migrations: readonly Migration[]): string {
  const hash = createHash('sha256');
  for (const { file, text } of migrations) hash.update(file).update(text);
  return hash.digest('hex').slice(0, 8);
}

/** The mark that this version writes into a database: `TempoClaw 0.2.0, schema 1a2b3c4d, for 0.1.0 and later`. */
export async function schemaMark(features: readonly SchemaPart[]): Promise<string> {
  return markFor(await readMigrations(features));
}

function markFor(migrations: readonly Migration[]): string {
  return `TempoClaw ${manifest.version}, schema ${digestOf(migrations)}, for ${released.oldest} and later`;
}

/** What a database of this version has. */
export async function ownSchema(features: readonly SchemaPart[]): Promise<Schema> {
  const names = migrationNames(await readMigrations(features));
  return { mark: await schemaMark(features), names };
}
