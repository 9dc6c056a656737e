/** The tool `browser` with a real Chromium, on sites of this machine; it ends with the test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandFolders } from '#config';
import {
  type Browsers,
  type BrowsersOptions,
  createBrowsers,
} from '#features/browser/activities/browsers.ts';
import { createBubblewrap, ownIdentity } from '@tempoclaw/sandbox';
import { createEgress } from '#activities/egress/create-egress.ts';
import { tool } from '#features/browser/tools/browser.ts';
import type { ToolResult } from '#domain/tool.ts';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import type { RunningCall } from '#policy/define-tool.ts';
import type { NewEgressRow } from '#store/egress-store.ts';
import { boxesAt } from './container-engine.ts';
import { type Bench, toolBench } from './tool-call.ts';

interface After {
  after(work: () => unknown): void;
}

export interface Site {
  readonly host: string;
  readonly url: string;
  readonly requests: string[];
}

/** Pages by path; `handle` is for more than a page. */
export async function startSite(
  t: After,
  pages: Readonly<Record<string, string>>,
  handle?: (request: IncomingMessage, reply: ServerResponse) => boolean,
): Promise<Site> {
  const requests: string[] = [];
  const server = createServer((request, reply) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    requests.push(`${request.method} ${path}`);
    if (handle?.(request, reply)) return;
    const page = pages[path];
    reply.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    reply.end(page ?? 'nothing here');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, requests };
}

export interface BrowserBench {
  readonly bench: Bench;
  readonly browsers: Browsers;
  readonly rows: NewEgressRow[];
  /** What the model reads. */
  ask(args: Readonly<Record<string, unknown>>, overrides?: Partial<RunningCall>): Promise<string>;
  result(args: Readonly<Record<string, unknown>>, ended?: Partial<RunningCall>): Promise<ToolResult>;
}

/** One folder for all test files, because unpacking takes seconds. */
export const BROWSER_DIR = join(tmpdir(), `tempoclaw-test-browser-${process.getuid?.() ?? 0}`);

/** It can reach `sites`, and nothing else of this machine. */
export async function browserBench(
  t: After,
  sites: readonly string[],
  options: Partial<BrowsersOptions> = {},
): Promise<BrowserBench> {
  const rows: NewEgressRow[] = [];
  const egress = createEgress({
    resolve: async (host) => (host === 'inner.example' ? ['10.0.0.7'] : []),
    record: async (row) => void rows.push(row),
  });
  const browsers = createBrowsers({
    egress,
    folders: commandFolders(),
    dir: BROWSER_DIR,
    environment: commandEnvironment(process.env),
    worker: ownIdentity(),
    proxyHost: '127.0.0.1',
    maxBrowsers: 4,
    idleMs: 600_000,
    lastPage: async () => undefined,
    boxing: { boxes: boxesAt('unix:///nonesuch/docker.sock'), bubblewrap: createBubblewrap([]) },
    ...options,
  });
  const bench = await toolBench(t, { deps: { browsers } });
  t.after(() => browsers.close());
  const result: BrowserBench['result'] = (args, overrides = {}) =>
    bench.run(tool, args, { egress: { internalHosts: sites }, ...overrides });
  return {
    bench,
    browsers,
    rows,
    result,
    async ask(args, overrides) {
      const input = await result(args, overrides);
      return input.ok ? input.text : `${input.code}: ${input.message}`;
    },
  };
}

/** The ref of the first line of a snapshot that has these words. */
export function refOf(snapshot: string, words: RegExp): string {
  const line = snapshot.split('\n').find((one) => words.test(one) && one.includes('[ref='));
  const ref = line && /\[ref=(\w+)\]/.exec(line)?.[1];
  if (!ref) throw new Error(`no element ${words} in:\n${snapshot}`);
  return ref;
}
