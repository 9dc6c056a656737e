/** Makes the state folder ready for this version before anything runs: refuses, backs up, or goes back. */
import type { Config } from '#config';
import { CliError } from '#cli/cli-error.ts';
import type { SchemaPart } from '#store/postgres/migrate.ts';
import { readKeptSchema } from './postgres/kept-schema.ts';
import { backUp, endUpgrade, finishRestore, restoreNewest } from './upgrade-backup.ts';

export interface UpgradeOptions {
  readonly backup?: boolean | undefined;
  readonly restoreBackup?: boolean | undefined;
}

/** Resolves with false when nothing is to be started. A database that somebody else runs is theirs to back up. */
export async function prepareState(
  { stateDir, database }: Config,
  features: readonly SchemaPart[],
  { backup = true, restoreBackup = false }: UpgradeOptions,
  report: (text: string) => void,
): Promise<boolean> {
  if (database.url !== undefined) {
    if (restoreBackup)
      throw new CliError('The database of DATABASE_URL has no backup here; restore your own.');
    return true;
  }
  await finishRestore(stateDir);
  if (restoreBackup) {
    const { mark, made_at } = await restoreNewest(stateDir);
    report(`restored what was there at ${made_at}: ${mark}. Start it with that version`);
    return false;
  }
  const kept = await readKeptSchema(stateDir, features);
  if (kept.state === 'unusable') throw new CliError(`${stateDir}: ${kept.problem}`, { code: 'Schema' });
  if (kept.state === 'current') await endUpgrade(stateDir);
  if (kept.state === 'older' && backup) {
    report(`upgrades a database of ${kept.mark}; backing it up first`);
    report(`backed up to ${await backUp(stateDir, kept.mark)}`);
  }
  return true;
}
