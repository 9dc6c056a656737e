/** Brings a database to the newest schema. Many may try at once: the first does it, the others wait. */
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { applyFunctions } from './apply-functions.ts';

/** Resolves with the names of what ran: migrations, and `functions` if the SQL functions changed. Safe to run again. */
export async function migrate(databaseUrl: string): Promise<readonly string[]> {
  const ran = await runner({
    databaseUrl,
    dir: fileURLToPath(new URL('./migrations', import.meta.url)),
    direction: 'up',
    migrationsTable: 'migrations',
    advisoryLockMode: 'wait',
    log: () => undefined,
  });
  const changed = await applyFunctions(databaseUrl);
  return [...ran.map((migration) => migration.name), ...(changed ? ['functions'] : [])];
}
