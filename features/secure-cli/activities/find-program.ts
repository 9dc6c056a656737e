/**
 * Finds which file a configured program is. That file alone gets the credentials, so an agent must not be able to write
 * it.
 */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { SecureCli } from '../rules/secure-cli.ts';

export type FoundProgram =
  | { readonly ok: true; readonly file: string }
  | { readonly ok: false; readonly code: 'NotFound' | 'PermissionDenied'; readonly message: string };

export interface ProgramPlaces {
  /** Folders in which a program without a path is searched for; folders that are not absolute are skipped. */
  readonly folders: readonly string[];
  /** Folders that agents can write to. */
  readonly workspaceRoot: string;
}

/**
 * `requested` is the name in the call: the name alone, or a path, which must lead to the very same file (a `./gh` of
 * the workspace does not). Links are followed.
 */
export async function findProgram(
  cli: SecureCli,
  requested: string,
  cwd: string,
  places: ProgramPlaces,
): Promise<FoundProgram> {
  const file = await firstProgram(cli, places);
  if (file === undefined)
    return {
      ok: false,
      code: 'NotFound',
      message: `${cli.name} is not installed where this runs; ask an admin`,
    };
  if (isInside(await realOr(places.workspaceRoot), file) || (await isWritableByAll(file)))
    return {
      ok: false,
      code: 'PermissionDenied',
      message: `${cli.name} is a file that agents could have written; it gets no credentials`,
    };
  if (requested === cli.name) return { ok: true, file };
  const real = requested.includes('/') ? await realOr(resolve(cwd, requested)) : undefined;
  if (real === file) return { ok: true, file };
  return {
    ok: false,
    code: 'PermissionDenied',
    message: `${requested} is not the configured program ${cli.name}; name it as ${cli.name}`,
  };
}

async function firstProgram(cli: SecureCli, { folders }: ProgramPlaces): Promise<string | undefined> {
  const candidates =
    cli.path === undefined ? folders.filter(isAbsolute).map((folder) => join(folder, cli.name)) : [cli.path];
  for (const candidate of candidates) {
    const file = await realOr(candidate);
    if (file !== undefined && (await isProgram(file))) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // It does not exist or is not executable, so it is no program.
    return false;
  }
}

async function isWritableByAll(file: string): Promise<boolean> {
  return ((await stat(file)).mode & 0o002) !== 0;
}

async function realOr(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // It does not exist.
    return undefined;
  }
}

function isInside(folder: string | undefined, file: string): boolean {
  if (folder === undefined) return false;
  const way = relative(folder, file);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}
