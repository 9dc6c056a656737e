/** The schema of this installation: the core's and that of its features. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '#features';
import { markProblem, migrate, schemaMark, schemaProblem } from '#store/postgres/migrate.ts';

/** See store/postgres/migrate.ts. */
export const migrateSchema = (databaseUrl: string) => migrate(databaseUrl, FEATURES);
export const schemaProblemOf = (databaseUrl: string) => schemaProblem(databaseUrl, FEATURES);
export const markProblemOf = (mark: string | null) => markProblem(mark, FEATURES);

/** Records the version of the state folder's database, so that it is known while the database does not run. */
export async function keepSchemaMark(stateDir: string): Promise<void> {
  writeFileSync(join(stateDir, 'schema'), await schemaMark(FEATURES));
}

/** Returns null when none was recorded. */
export function readSchemaMark(stateDir: string): string | null {
  const file = join(stateDir, 'schema');
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
