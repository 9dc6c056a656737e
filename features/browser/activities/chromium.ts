/** Starts Chromium: which one, with what it may see, and without access to anything but the proxy. */
import { execFile } from 'node:child_process';
import { access, chmod, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFolder } from '@tempoclaw/on-demand';
import type { LaunchOptions } from 'playwright-core';
import { onDemandPackages } from '#config';
import { OWN_MARKS } from '#activities/process/own-names.ts';
import { makeTemporaryFolder, makeWorkerFolder } from '@tempoclaw/sandbox';
import { MAX_TABS } from './open-browser.ts';

export interface ChromiumSettings {
  readonly executable?: string | undefined;
  /** The folders in which programs are searched for. */
  readonly folders: readonly string[];
  /** A private folder of ours on this machine. */
  readonly dir: string;
  /** The environment from commandEnvironment: it has nothing of ours. */
  readonly environment: Readonly<Record<string, string>>;
  /** Identity of this worker. The next start ends a killed worker's browsers (packages/sandbox/src/reap-orphans.ts). */
  readonly worker: string;
}

export interface Chromium {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Profiles, and what is being unpacked, of all workers on this machine. A start removes what dead ones left. */
export function profilesFolder(dir: string): string {
  return join(dir, 'profiles');
}

/** Throws, in words for people, when there is none. */
export async function findChromium({
  executable,
  folders,
  dir,
}: Pick<ChromiumSettings, 'executable' | 'folders' | 'dir'>): Promise<Chromium> {
  const named = executable === undefined ? [] : [executable];
  const installed = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  for (const path of executable === undefined ? installed : named)
    if (await exists(path)) return { path, env: {} };
  if (executable !== undefined) throw new Error(`browser.executable: there is no ${executable}`);
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      'this machine has no Chromium: install one, or set browser.executable or browser.endpoint',
    );
  return unpacked(dir);
}

const PACKAGE = '@sparticuz/chromium';
/** Unpacks its compressed files. It runs in the folder of the package, which may import itself by its name. */
const UNPACK = `import chromium from '${PACKAGE}'; await chromium.executablePath();`;
/** Makes it also unpack the libraries, which slim systems do not have. */
const WITH_LIBRARIES = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };

/**
 * Installs the package when it is missing, and unpacks it once for a state folder, never in the shared temporary folder, where others could place a program of theirs.
 * It is made aside and moved into place, so that a partial one is never used, and of two concurrent ones, one wins.
 */
async function unpacked(dir: string): Promise<Chromium> {
  const cwd = await packageFolder(PACKAGE, import.meta.url, onDemandPackages('chromium'));
  // The size tells one release from another.
  const { size } = await stat(join(cwd, 'bin/chromium.br'));
  const folder = join(dir, `chromium-${size}`);
  if (!(await exists(folder))) {
    const part = makeWorkerFolder(profilesFolder(dir));
    const env = { ...WITH_LIBRARIES, TMPDIR: part, HOME: part };
    const options = { cwd, env, timeout: 120_000 };
    try {
      await promisify(execFile)(process.execPath, ['--input-type=module', '-e', UNPACK], options);
      await writeFile(join(part, 'fonts.conf'), fontsOf(folder));
      // The modes are for boxes, which run as another user.
      for (const path of [part, join(part, 'chromium')]) await chmod(path, 0o755);
      await rename(part, folder);
    } catch (error) {
      await rm(part, { recursive: true, force: true });
      if (!(await exists(folder))) throw error;
    }
  }
  const env = {
    LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
  };
  return { path: join(folder, 'chromium'), env };
}

/** Without a font, Chromium crashes at its first letter. */
function fontsOf(folder: string): string {
  const escaped = folder.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const dirs = ['/usr/share/fonts', '/usr/local/share/fonts', `${escaped}/fonts`];
  return `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>${dirs.map((dir) => `<dir>${dir}</dir>`).join('')}<cachedir>${escaped}/font-cache</cachedir></fontconfig>\n`;
}

/**
 * Length of the socket's path in its temporary folder, `/org.chromium.Chromium.XXXXXX/SingletonSocket`; with it, a path
 * has at most MAX_PATH characters.
 */
const SOCKET = 45;
const MAX_PATH = 103;

/** Where Chromium has its socket: in the profile, if that path is short enough. */
export function temporaryFolder(profile: string): string {
  return profile.length + SOCKET <= MAX_PATH ? profile : makeTemporaryFolder('browser');
}

/** The Chromium that comes with the packages. It is complete in its folder, so that a box can include it. */
export async function bundledChromium({ dir }: Pick<ChromiumSettings, 'dir'>): Promise<Chromium> {
  if (process.platform === 'linux' && process.arch === 'x64') return unpacked(dir);
  throw new Error('there is no Chromium for a box on this kind of machine: set browser.endpoint');
}

/** `profile` and `temporary` are folders of its own; `mark` is the mark of its processes. */
export function launchOptions(
  { environment, worker }: Pick<ChromiumSettings, 'environment' | 'worker'>,
  { path, env }: Chromium,
  { profile, temporary }: { readonly profile: string; readonly temporary: string },
  mark: string,
  isBoxed: boolean,
): LaunchOptions {
  return {
    executablePath: path,
    headless: true,
    // Chromium refuses to use its own sandbox as root, and no process in a box can make namespaces.
    chromiumSandbox: process.getuid?.() !== 0 && !isBoxed,
    // The worker's signals are for the worker itself.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: 30_000,
    env: {
      ...environment,
      ...env,
      HOME: profile,
      TMPDIR: temporary,
      [OWN_MARKS.call]: mark,
      [OWN_MARKS.worker]: worker,
    },
    args: [
      // Neither names nor UDP bypass the proxy.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      '--disable-quic',
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
      '--webrtc-ip-handling-policy=disable_non_proxied_udp',
      '--no-pings',
      '--disable-domain-reliability',
      '--disk-cache-size=33554432',
      // Each tab has a process of its own, so that a page which spins affects no other. The heap of each is limited.
      `--renderer-process-limit=${4 * MAX_TABS}`,
      '--js-flags=--max-old-space-size=512',
    ],
  };
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
