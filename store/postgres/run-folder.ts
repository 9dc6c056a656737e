/** Runs the migrations of a folder that have not run. */
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import type pg from 'pg';

/** Each in a transaction, while others wait; `table` records them. Resolves with their names. Safe to repeat. */
export async function runFolder(client: pg.Client, folder: URL, table: string): Promise<readonly string[]> {
  const made = await runner({
    dbClient: client,
    dir: fileURLToPath(folder),
    direction: 'up',
    migrationsTable: table,
    advisoryLockMode: 'wait',
    singleTransaction: true,
    // Each folder has its own order.
    checkOrder: false,
    log: () => undefined,
  });
  return made.map(({ name }) => name);
}
