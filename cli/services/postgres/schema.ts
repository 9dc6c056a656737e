/** The schema of this installation: the core's and that of its features. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasDatabase } from '@tempoclaw/dev-services';
import { FEATURES } from '#features';
import { migrate, ownSchema, problemOf, schemaProblem } from '#store/postgres/migrate.ts';

/** See store/postgres/migrate.ts. */
export const migrateSchema = (databaseUrl: string) => migrate(databaseUrl, FEATURES);
export const schemaProblemOf = (databaseUrl: string) => schemaProblem(databaseUrl, FEATURES);

/** What `tempoclaw up` must do with the database of a state folder before it starts it. */
export type KeptSchema =
  | { readonly state: 'none' | 'current' }
  | { readonly state: 'older'; readonly mark: string }
  | { readonly state: 'unusable'; readonly problem: string };

/** Records the version of the state folder's database, so that it is known while the database does not run. */
export async function keepSchemaMark(stateDir: string): Promise<void> {
  const { mark, names } = await ownSchema(FEATURES);
  const file = join(stateDir, 'schema');
  writeFileSync(`${file}.new`, [mark, ...names].join('\n'));
  renameSync(`${file}.new`, file);
}

export async function readKeptSchema(stateDir: string): Promise<KeptSchema> {
  const file = join(stateDir, 'schema');
  if (!hasDatabase(stateDir)) return { state: 'none' };
  const [mark = '', ...names] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const own = await ownSchema(FEATURES);
  if (mark === own.mark) return { state: 'current' };
  const problem = await problemOf({ mark, names: names.length === 0 ? own.names : names }, FEATURES, 'own');
  return problem === undefined ? { state: 'older', mark } : { state: 'unusable', problem };
}
