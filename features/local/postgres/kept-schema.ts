/** The version of a state folder's database, as it is known while the database does not run. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasDatabase } from '@tempoclaw/dev-services';
import { ownSchema, problemOf, type SchemaPart } from '#store/postgres/migrate.ts';

/** What `tempoclaw up` must do with the database of a state folder before it starts it. */
export type KeptSchema =
  | { readonly state: 'none' | 'current' }
  | { readonly state: 'older'; readonly mark: string }
  | { readonly state: 'unusable'; readonly problem: string };

/** Records the version of the state folder's database, so that it is known while the database does not run. */
export async function keepSchemaMark(stateDir: string, features: readonly SchemaPart[]): Promise<void> {
  const { mark, names } = await ownSchema(features);
  const file = join(stateDir, 'schema');
  writeFileSync(`${file}.new`, [mark, ...names].join('\n'));
  renameSync(`${file}.new`, file);
}

export async function readKeptSchema(stateDir: string, features: readonly SchemaPart[]): Promise<KeptSchema> {
  const file = join(stateDir, 'schema');
  if (!hasDatabase(stateDir)) return { state: 'none' };
  const [mark = '', ...names] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const own = await ownSchema(features);
  if (mark === own.mark) return { state: 'current' };
  const problem = await problemOf({ mark, names: names.length === 0 ? own.names : names }, features, 'own');
  return problem === undefined ? { state: 'older', mark } : { state: 'unusable', problem };
}
