/** Starts one session's browser with its proxy, on this machine or at the endpoint, and ends both. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageFolder } from '@tempoclaw/on-demand';
import { quoteWord } from '@tempoclaw/shell-judge';
import type { BrowserContext } from 'playwright-core';
import type { Egress, EgressProxy, ProxyUse } from '#activities/egress/create-egress.ts';
import { findTree, killTree, commandOf, residentBytes, makeWorkerFolder } from '@tempoclaw/sandbox';
import { OWN_MARKS } from '#activities/process/own-names.ts';
import { onDemandPackages } from '#config';
import { BOX_PROXY_PORT, type BrowserBox } from './browser-box.ts';
import {
  bundledChromium,
  type ChromiumSettings,
  findChromium,
  launchOptions,
  profilesFolder,
  temporaryFolder,
} from './chromium.ts';
import { ignoring, type OpenBrowser, watchBrowser } from './open-browser.ts';

export interface StartOptions extends ChromiumSettings {
  readonly egress: Pick<Egress, 'proxy'>;
  readonly endpoint?: string | undefined;
  readonly proxyHost: string;
}

export interface StartedBrowser {
  readonly browser: OpenBrowser;
  /**
   * Ends the largest page's process when all of them together use more than this many bytes, shared memory counted in
   * each. Returns false when Chromium alone uses more. At an endpoint and in a container, it sees no processes.
   */
  holdTo(bytes: number): Promise<boolean>;
  /** Safe to repeat. */
  end(): Promise<void>;
}

/** How long an orderly end may take; then its processes are killed. */
const CLOSE_MS = 5_000;

/** `lost` is called when it has ended, for whatever reason. */
export async function startBrowser(
  options: StartOptions,
  use: ProxyUse,
  lost: () => void,
  box?: BrowserBox,
): Promise<StartedBrowser> {
  let opened: EgressProxy | undefined;
  const reach: Reach = async (host) => {
    opened = await options.egress.proxy(use, host);
    return opened;
  };
  try {
    const { context, proxy, mark, close } =
      options.endpoint === undefined
        ? await launch(options, reach, box)
        : await attach(options.endpoint, await reach(options.proxyHost));
    let ended: Promise<void> | undefined;
    const end = (): Promise<void> => {
      ended ??= close().finally(() => proxy.close());
      return ended;
    };
    context.on('close', () => {
      lost();
      void ignoring(end());
    });
    const holdTo = async (bytes: number) => mark === undefined || holdProcesses(mark, bytes);
    return { browser: watchBrowser(context, proxy), holdTo, end };
  } catch (error) {
    await opened?.close();
    throw error;
  }
}

/** The package is installed and loaded when it is needed, because most workers have no browser. */
async function playwright(): Promise<typeof import('playwright-core')> {
  const folder = await packageFolder('playwright-core', import.meta.url, onDemandPackages('playwright'));
  return import(pathToFileURL(join(folder, 'index.mjs')).href) as Promise<typeof import('playwright-core')>;
}

/** Opens the proxy at a host or a socket. */
type Reach = (host: string) => Promise<EgressProxy>;

interface Opened {
  readonly context: BrowserContext;
  readonly proxy: EgressProxy;
  /** The mark of our own processes. */
  readonly mark?: string;
  close(): Promise<void>;
}

type ProxyOption = { server: string; username: string; password: string; bypass: string };

/** `<-loopback>` also sends requests for this machine's own services through the proxy, which refuses them. */
function proxyOf({ server, username, password }: EgressProxy): ProxyOption {
  return { server, username, password, bypass: '<-loopback>' };
}

const CONTEXT = {
  acceptDownloads: true,
  viewport: { width: 1280, height: 800 },
  serviceWorkers: 'block',
} as const;

async function launch(options: StartOptions, reach: Reach, box?: BrowserBox): Promise<Opened> {
  const found = await (box ? bundledChromium(options) : findChromium(options));
  const { chromium } = await playwright();
  const id = `browser-${randomUUID()}`;
  const profile = makeWorkerFolder(profilesFolder(options.dir));
  const temporary = temporaryFolder(profile);
  const target = { pid: 0, mark: `${OWN_MARKS.call}=${id}` };
  const clean = async (): Promise<void> => {
    await killTree(target, 0);
    await box?.end();
    for (const folder of new Set([profile, temporary]))
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const socket = join(temporary, 'proxy');
    const proxy = await reach(box ? socket : options.proxyHost);
    const at = box ? { ...proxy, server: `http://127.0.0.1:${BOX_PROXY_PORT}` } : proxy;
    const command = await box?.command({ chromium: found, profile, temporary, socket });
    const started = command ? { ...found, path: await writeStart(profile, command) } : found;
    const settings = launchOptions(options, started, { profile, temporary }, id, box !== undefined);
    const context = await chromium.launchPersistentContext(profile, {
      ...settings,
      ...CONTEXT,
      proxy: proxyOf(at),
      downloadsPath: profile,
    });
    return {
      context,
      proxy,
      mark: target.mark,
      async close() {
        await Promise.race([
          ignoring(context.close()),
          new Promise((done) => setTimeout(done, CLOSE_MS).unref()),
        ]);
        await clean();
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}

/** The script that playwright starts in place of Chromium: it connects CDP at descriptors 3 and 4. */
async function writeStart(profile: string, command: readonly string[]): Promise<string> {
  const path = join(profile, 'start');
  const line = `exec ${command.map(quoteWord).join(' ')} "$@" <&3 >&4 3<&- 4>&-`;
  await writeFile(path, `#!/bin/sh\n${line}\n`, { mode: 0o700 });
  return path;
}

async function attach(endpoint: string, proxy: EgressProxy): Promise<Opened> {
  const { chromium } = await playwright();
  const remote = await chromium.connectOverCDP(endpoint, { timeout: 30_000 });
  try {
    const context = await remote.newContext({ ...CONTEXT, proxy: proxyOf(proxy) });
    remote.on('disconnected', () => void ignoring(context.close()));
    return { context, proxy, close: () => ignoring(context.close().finally(() => remote.close())) };
  } catch (error) {
    await ignoring(remote.close());
    throw error;
  }
}

async function holdProcesses(mark: string, max: number): Promise<boolean> {
  const tree = (await findTree({ pid: 0, mark })).map(({ pid }) => ({
    pid,
    bytes: residentBytes(pid),
    isPage: commandOf(pid)?.includes('--type=renderer') === true,
  }));
  const sum = (of: typeof tree): number => of.reduce((all, { bytes }) => all + bytes, 0);
  if (sum(tree) <= max) return true;
  if (sum(tree.filter(({ isPage }) => !isPage)) > max) return false;
  const [largest] = tree.filter(({ isPage }) => isPage).toSorted((a, b) => b.bytes - a.bytes);
  try {
    if (largest) process.kill(largest.pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
  return true;
}
