/** Files of this machine that contain keys of the deployment, which no agent's command may read (SH-6). */
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from './environment.ts';

const PROGRAM = fileURLToPath(new URL('..', import.meta.url));

/**
 * Where a start as root keeps what the `postgres` user must reach, when that user cannot enter the checkout (such as
 * /root).
 */
export const DATABASE_FOLDER_OF_ROOT = '/var/lib/tempoclaw';

/** `file` is the settings file; `named` are the files that it names. They may be missing. */
export function secretFiles(
  cwd: string,
  env: Environment,
  file: string | undefined,
  named: readonly (string | undefined)[],
): readonly string[] {
  const home = homedir();
  const folders = new Set([cwd, PROGRAM, ...(file === undefined ? [] : [dirname(file)])]);
  const usual = [
    '.config/temporalio/temporal.toml',
    'Library/Application Support/temporalio/temporal.toml',
    '.pgpass',
  ].map((name) => join(home, name));
  const messages = [
    file,
    ...named,
    env['TEMPORAL_CONFIG_FILE'],
    env['TEMPORAL_TLS_CLIENT_KEY_PATH'],
    env['PGPASSFILE'],
  ].flatMap((path) => (path === undefined || path === '' ? [] : [resolve(cwd, path)]));
  return [DATABASE_FOLDER_OF_ROOT, ...messages, ...usual, ...Array.from(folders).flatMap(dotEnvFiles)];
}

function dotEnvFiles(folder: string): string[] {
  return ['.env', ...namesIn(folder).filter((name) => name.startsWith('.env.'))].map((name) =>
    join(folder, name),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder is gone, or this user cannot list it; then what runs as the same user cannot either.
    return [];
  }
}
