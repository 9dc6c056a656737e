/** Files of this machine that hold keys of the deployment: what no command of an agent may read (SH-6). */
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from './environment.ts';

const PROGRAM = fileURLToPath(new URL('..', import.meta.url));

/** Where a root start keeps what the `postgres` user must reach when the checkout is closed to it (such as /root). */
export const DATABASE_FOLDER_OF_ROOT = '/var/lib/tempoclaw';

/** `file` is the settings' own, `named` are those that it names. They need not be there. */
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
    // Gone, or nobody's to list: nor for what runs as we do.
    return [];
  }
}
