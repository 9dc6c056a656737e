/**
 * Migrations of an installation's own features. They have a table of their own, because the mark of a database
 * (migrate.ts) is about releases: without such a feature, the database is as usable as before.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';

const TABLE = 'own_migrations';

type OwnPart = Pick<Feature, 'name' | 'needs' | 'migrations' | 'own'>;

/**
 * Runs those that have not run, under the lock of node-pg-migrate; resolves with their names. Safe to repeat. Throws an
 * error for a developer when a file has changed since it ran.
 */
export async function migrateOwn(
  client: pg.Client,
  features: readonly OwnPart[],
): Promise<readonly string[]> {
  const parts = inOrderOfNeed(features).flatMap(({ own, migrations }) =>
    own && migrations ? [migrations] : [],
  );
  const names: string[] = [];
  for (const folder of parts) {
    const made = await runner({
      dbClient: client,
      dir: fileURLToPath(folder),
      direction: 'up',
      migrationsTable: TABLE,
      advisoryLockMode: 'wait',
      singleTransaction: true,
      // Each folder has its own order.
      checkOrder: false,
      log: () => undefined,
    });
    names.push(...made.map(({ name }) => name));
  }
  if (parts.length > 0) await keepDigests(client, parts);
  return names;
}

/** Names of those that the database lacks. */
export async function missingOwnMigrations(
  client: pg.Client,
  features: readonly OwnPart[],
): Promise<readonly string[]> {
  const folders = features.flatMap(({ own, migrations }) => (own && migrations ? [migrations] : []));
  if (folders.length === 0) return [];
  const { rows } = await client.query<{ ran: string | null }>(`select to_regclass('${TABLE}') as ran`);
  const done = rows[0]?.ran ? (await client.query<{ name: string }>(`select name from ${TABLE}`)).rows : [];
  const files = (await Promise.all(folders.map((folder) => readdir(folder)))).flat();
  return files
    .map((file) => file.replace(/\.sql$/, ''))
    .filter((name) => !done.some((row) => row.name === name));
}

/** The comment of the table has the digest of each file as it ran, so that a later change of it is noticed. */
async function keepDigests(client: pg.Client, folders: readonly URL[]): Promise<void> {
  const { rows } = await client.query<{ kept: string | null }>(
    `select obj_description('${TABLE}'::regclass, 'pg_class') as kept`,
  );
  const kept = new Map<string, string>(Object.entries(JSON.parse(rows[0]?.kept ?? '{}')));
  for (const folder of folders)
    for (const file of await readdir(folder)) {
      const digest = createHash('sha256')
        .update(await readFile(new URL(file, folder)))
        .digest('hex')
        .slice(0, 16);
      const known = kept.get(file) ?? digest;
      if (known !== digest)
        throw new Error(
          `${fileURLToPath(new URL(file, folder))} has changed since it ran on this database. Put the change into a new ` +
            'migration, or start with an empty database (another --state-dir or DATABASE_URL).',
        );
      kept.set(file, digest);
    }
  const text = JSON.stringify(Object.fromEntries(kept));
  await client.query(`comment on table ${TABLE} is ${pg.escapeLiteral(text)}`);
}
