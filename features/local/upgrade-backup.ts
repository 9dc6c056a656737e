/**
 * Backups of what `tempoclaw up` runs by itself, made while nothing runs and before a newer version changes it. A kill
 * at any line leaves the state of before or of after: a backup counts when its folder has its name, and a restore that
 * has begun is finished by the next start.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  chmod,
  copyFile,
  constants,
  lchown,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  statfs,
  symlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { databaseFolder, endFormerDatabase } from '@tempoclaw/dev-services';
import { CliError } from '#cli/cli-error.ts';

/** Workspaces and logs are not changed by an upgrade. */
const FILES = [
  'temporal.db',
  'temporal.db-wal',
  'temporal.db-shm',
  'temporal-namespace',
  'postgres-password',
  'sealing.key',
  'api-key',
  'schema',
];
const DATABASE = 'postgres';
/** Newest backups that are kept. */
const KEPT = 2;
/** Bytes that a migration may need beside the backup. */
const SPARE = 268_435_456;

/** Names of files in backups/, beside the backups. */
const UPGRADING = 'upgrading';
const RESTORING = 'restoring';

export interface Backup {
  readonly name: string;
  /** The mark of the database in it. */
  readonly mark: string;
  /** ISO 8601. */
  readonly made_at: string;
  readonly parts: readonly string[];
}

/**
 * Resolves with the backup's folder. An upgrade that was interrupted has its backup already, which is not made again
 * from what it has left. Throws a CliError when the disk has too little space.
 */
export async function backUp(stateDir: string, mark: string): Promise<string> {
  const folder = join(stateDir, 'backups');
  const marker = join(folder, UPGRADING);
  const before = existsSync(marker) ? readFileSync(marker, 'utf8') : '';
  if (before !== '' && listBackups(stateDir).some(({ name }) => name === before)) return join(folder, before);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const left of readdirSync(folder).filter((one) => one.endsWith('.new')))
    await rm(join(folder, left), { recursive: true });
  const parts = [DATABASE, ...FILES].filter((part) => existsSync(placeOf(stateDir, part)));
  await requireSpace(
    folder,
    parts.map((part) => placeOf(stateDir, part)),
  );
  const made_at = new Date().toISOString();
  const name = made_at.replaceAll(':', '-');
  const making = join(folder, `${name}.new`);
  await endFormerDatabase(stateDir);
  await mkdir(making, { mode: 0o700 });
  for (const part of parts) await copyTree(placeOf(stateDir, part), join(making, part));
  const backup: Backup = { name, mark, made_at, parts };
  writeFileSync(join(making, 'backup.json'), JSON.stringify(backup), { mode: 0o600 });
  renameSync(making, join(folder, name));
  writeWhole(marker, name);
  for (const old of listBackups(stateDir).slice(KEPT)) await rm(join(folder, old.name), { recursive: true });
  return join(folder, name);
}

/** Called when this version runs: an interrupted upgrade is over, and the next one makes a backup of its own. */
export function endUpgrade(stateDir: string): Promise<void> {
  return rm(join(stateDir, 'backups', UPGRADING), { force: true });
}

/** Puts the newest backup back, in place of what is there. Throws a CliError when there is none. */
export async function restoreNewest(stateDir: string): Promise<Backup> {
  const [newest] = listBackups(stateDir);
  if (!newest)
    throw new CliError(`${stateDir} has no backup of before an upgrade.`, {
      code: 'NoBackup',
      remedy: 'Put back a backup of your own (docs/operations.md), or start with another --state-dir.',
    });
  writeWhole(join(stateDir, 'backups', RESTORING), newest.name);
  await finishRestore(stateDir);
  return newest;
}

/** Finishes a restore that a kill has interrupted. Safe to repeat. */
export async function finishRestore(stateDir: string): Promise<void> {
  const folder = join(stateDir, 'backups');
  const marker = join(folder, RESTORING);
  if (!existsSync(marker)) return;
  const backup = listBackups(stateDir).find(({ name }) => name === readFileSync(marker, 'utf8'));
  if (backup) {
    await endFormerDatabase(stateDir);
    for (const part of [DATABASE, ...FILES]) {
      const kept = join(folder, backup.name, part);
      // One that is no longer in the backup was moved before the kill.
      if (existsSync(kept)) await moveTo(kept, placeOf(stateDir, part));
      else if (!backup.parts.includes(part))
        await rm(placeOf(stateDir, part), { recursive: true, force: true });
    }
    await rm(join(folder, backup.name), { recursive: true });
  }
  await endUpgrade(stateDir);
  await rm(marker);
}

/** The newest first. */
function listBackups(stateDir: string): readonly Backup[] {
  const folder = join(stateDir, 'backups');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.endsWith('.new') && existsSync(join(folder, name, 'backup.json')))
    .toSorted()
    .toReversed()
    .map((name) => JSON.parse(readFileSync(join(folder, name, 'backup.json'), 'utf8')) as Backup);
}

function placeOf(stateDir: string, part: string): string {
  return part === DATABASE ? databaseFolder(stateDir) : join(stateDir, part);
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}

async function requireSpace(folder: string, places: readonly string[]): Promise<void> {
  let bytes = SPARE;
  for (const place of places) bytes += await sizeOf(place);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  const gigabytes = (count: number): string => `${(count / 1_073_741_824).toFixed(1)} GB`;
  throw new CliError(
    `The backup before the upgrade needs ${gigabytes(bytes)}, and the disk of ${folder} has ${gigabytes(bavail * bsize)}.`,
    {
      code: 'NoSpace',
      remedy: 'Free some space, or back up the state folder yourself and start with --no-backup.',
    },
  );
}

async function sizeOf(place: string): Promise<number> {
  const stat = await lstat(place);
  if (!stat.isDirectory()) return stat.size;
  let bytes = 0;
  for (const name of await readdir(place)) bytes += await sizeOf(join(place, name));
  return bytes;
}

/** Another disk has the database if its user cannot reach the state folder. */
async function moveTo(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await rm(`${to}.restored`, { recursive: true, force: true });
    await copyTree(from, `${to}.restored`);
    await rename(`${to}.restored`, to);
    await rm(from, { recursive: true });
  }
}

/** Keeps modes and owners: Postgres refuses files of another user. Shares the blocks where the disk can do that. */
async function copyTree(from: string, to: string): Promise<void> {
  const stat = await lstat(from);
  if (stat.isDirectory()) {
    await mkdir(to, { mode: 0o700 });
    for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name));
  } else if (stat.isSymbolicLink()) await symlink(await readlink(from), to);
  else if (stat.isFile()) await copyFile(from, to, constants.COPYFILE_FICLONE);
  else return;
  await lchown(to, stat.uid, stat.gid);
  if (!stat.isSymbolicLink()) await chmod(to, stat.mode);
}
