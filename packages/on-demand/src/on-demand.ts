/**
 * Installs npm packages when they are first used. A folder with `package.json` and `package-lock.json` pins them, so npm
 * installs exactly these versions and checks their digests. npm's own settings choose the registry.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface OnDemandOptions {
  /** The folder with the two files. `config.bytes` of its package.json is about the size when installed. */
  readonly locks: string;
  /** Installations are folders in it, shared by all programs of a user. It is created when missing. */
  readonly cacheDir: string;
  /** The environment of npm. */
  readonly env: Readonly<Record<string, string>>;
  /** Called now and then with a text such as `installing chromium: 12 of 66 MB`. */
  readonly onProgress?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 15 * 60_000;
const PROGRESS_MS = 500;
const MEGABYTE = 1_000_000;
/** Install scripts do not run: they could download what no lock pins. */
const ARGS = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
/** npm's own patience with a connection that hangs is five minutes. */
const PATIENCE = ['--fetch-timeout=60000', '--fetch-retries=4'];

/**
 * The folder of package `name`: the one that `importer`, the address of a module, would get; otherwise the installed
 * one. Throws with npm's words when it cannot be installed. Safe to repeat, and to run at the same time elsewhere.
 */
export async function packageFolder(
  name: string,
  importer: string,
  options: OnDemandOptions,
): Promise<string> {
  return findPackage(name, importer) ?? join(await installed(name, options), 'node_modules', name);
}

/** The folder of package `name` as `importer` would get it; undefined when it is not installed there. */
export function findPackage(name: string, importer: string): string | undefined {
  try {
    const manifest = findPackageJSON(name, importer);
    return manifest === undefined ? undefined : dirname(manifest);
  } catch {
    return undefined;
  }
}

async function installed(name: string, options: OnDemandOptions): Promise<string> {
  const { locks, cacheDir, env, signal } = options;
  const lock = await readFile(join(locks, 'package-lock.json')).catch(() => undefined);
  if (!lock) throw new Error(`${name} is not installed; run \`npm install\` again`);
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = join(cacheDir, `${basename(locks)}-${digest}`);
  if (existsSync(folder)) return folder;
  await mkdir(cacheDir, { recursive: true, mode: 0o755 });
  // Made aside and moved into place, so that a partial installation is never used, and of two at once, one wins.
  const part = await mkdtemp(`${folder}.`);
  const end = showProgress(part, await sizeIn(locks), options);
  try {
    for (const file of ['package.json', 'package-lock.json']) await cp(join(locks, file), join(part, file));
    await promisify(execFile)('npm', [...ARGS, ...PATIENCE], {
      cwd: part,
      env,
      timeout: TIMEOUT_MS,
      signal,
    });
    if (!existsSync(join(part, 'node_modules', name)))
      throw new Error(`there is no ${name} for ${process.platform} on ${process.arch}`);
    await rename(part, folder);
  } catch (error) {
    if (existsSync(folder)) return folder;
    signal?.throwIfAborted();
    throw new Error(`${name} could not be installed: ${wordsOf(error)}`, { cause: error });
  } finally {
    end();
    await rm(part, { recursive: true, force: true });
  }
  return folder;
}

async function sizeIn(locks: string): Promise<number> {
  const text = await readFile(join(locks, 'package.json'), 'utf8');
  return (JSON.parse(text) as { config?: { bytes?: number } }).config?.bytes ?? 0;
}

/** Reports until the returned function is called. */
function showProgress(folder: string, total: number, { locks, onProgress }: OnDemandOptions): () => void {
  if (!onProgress) return () => undefined;
  const report = async (): Promise<void> => {
    const bytes = Math.min(total, await bytesIn(folder));
    const of = `${Math.round(bytes / MEGABYTE)} of ${Math.round(total / MEGABYTE)} MB`;
    onProgress(`installing ${basename(locks)} once: ${of}`);
  };
  void report();
  const timer = setInterval(() => void report(), PROGRESS_MS);
  return () => clearInterval(timer);
}

async function bytesIn(folder: string): Promise<number> {
  // Files vanish while npm moves them.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function wordsOf(error: unknown): string {
  const { stderr = '', code } = error as { stderr?: string; code?: unknown };
  if (code === 'ENOENT') return 'npm was not found; install Node.js with npm';
  return (stderr.trim() || (error instanceof Error ? error.message : String(error))).slice(0, 2_000);
}
