/**
 * Migrations of an installation's own features. They have a table of their own, because the mark of a database
 * (migrate.ts) is about releases: without such a feature, the database is as usable as before.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';
import { runFolder } from './run-folder.ts';

const TABLE = 'own_migrations';

type OwnPart = Pick<Feature, 'name' | 'needs' | 'migrations' | 'own'>;

/**
 * Runs those that have not run; resolves with their names. Safe to repeat. Throws an error for a developer when a file has
 * changed since it ran; then nothing is changed.
 */
export async function migrateOwn(
  client: pg.Client,
  features: readonly OwnPart[],
): Promise<readonly string[]> {
  const folders = foldersOf(features);
  if (folders.length === 0) return [];
  const kept = await keptDigests(client);
  const digests = await digestsIn(folders, kept);
  const names: string[] = [];
  for (const folder of folders) names.push(...(await runFolder(client, folder, TABLE)));
  // A process that died before this has left them out.
  if (Object.keys(digests).length > Object.keys(kept).length)
    await client.query(`comment on table ${TABLE} is ${pg.escapeLiteral(JSON.stringify(digests))}`);
  return names;
}

/** Names of those that the database lacks. */
export async function missingOwnMigrations(
  client: pg.Client,
  features: readonly OwnPart[],
): Promise<readonly string[]> {
  const folders = foldersOf(features);
  if (folders.length === 0) return [];
  const done = (await isThere(client))
    ? (await client.query<{ name: string }>(`select name from ${TABLE}`)).rows
    : [];
  const files = (await Promise.all(folders.map((folder) => readdir(folder)))).flat();
  return files
    .map((file) => file.replace(/\.sql$/, ''))
    .filter((name) => !done.some((row) => row.name === name));
}

function foldersOf(features: readonly OwnPart[]): readonly URL[] {
  return inOrderOfNeed(features).flatMap(({ own, migrations }) => (own && migrations ? [migrations] : []));
}

async function isThere(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ at: string | null }>(`select to_regclass('${TABLE}') as at`);
  return rows[0]?.at !== null;
}

type Digests = Readonly<Record<string, string>>;

/** The comment of the table has the digest of each file as it ran. */
async function keptDigests(client: pg.Client): Promise<Digests> {
  if (!(await isThere(client))) return {};
  const { rows } = await client.query<{ kept: string | null }>(
    `select obj_description('${TABLE}'::regclass, 'pg_class') as kept`,
  );
  return JSON.parse(rows[0]?.kept ?? '{}') as Digests;
}

/** The kept ones, with those of files that are new. Throws for a file that differs. */
async function digestsIn(folders: readonly URL[], kept: Digests): Promise<Digests> {
  const digests = new Map(Object.entries(kept));
  for (const folder of folders)
    for (const file of await readdir(folder)) {
      const path = new URL(file, folder);
      const digest = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
        .slice(0, 16);
      if ((digests.get(file) ?? digest) !== digest)
        throw new Error(
          `${fileURLToPath(path)} has changed since it ran on this database. Put the change into a new ` +
            'migration, or start with an empty database (another --state-dir or DATABASE_URL).',
        );
      digests.set(file, digest);
    }
  return Object.fromEntries(digests);
}
