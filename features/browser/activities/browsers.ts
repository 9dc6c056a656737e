/**
 * The browsers of this worker's sessions, one each. A browser is made when needed. It ends with its session, when
 * another person of the session uses one, when it is idle, when it takes too much memory, and with the worker. Its state exists nowhere else: a session's next browser is
 * new, and the tool says so.
 */
import { toolError, type ToolFailure } from '#domain/tool.ts';
import { type Boxing, browserBox, type BrowserBox, type BrowserCall } from './browser-box.ts';
import type { BrowserPlaces } from '../store/browser-place.ts';
import type { ProxyUse } from '#activities/egress/create-egress.ts';
import { shortError } from './in-tab.ts';
import { ignoring, type OpenBrowser } from './open-browser.ts';
import { startBrowser, type StartedBrowser, type StartOptions } from './start-browser.ts';

export interface Browsers {
  /** Runs `work` in the session's browser, which is made if there is none. */
  use<Result>(
    call: BrowserCall,
    work: (browser: OpenBrowser, isNew: boolean, note?: string) => Promise<Result>,
  ): Promise<Result | ToolFailure>;
  /** Does the same, but only in an existing browser. */
  useOpen<Result>(
    call: BrowserCall,
    work: (browser: OpenBrowser) => Promise<Result>,
  ): Promise<Result | ToolFailure | undefined>;
  /** See Tool.elsewhere. */
  elsewhere(call: {
    readonly tenant: string;
    readonly call: string;
    readonly here?: true;
  }): Promise<string | undefined>;
  /** Where the session's last browser was, according to the rows. */
  lastPage(call: Pick<BrowserCall, 'tenant' | 'sessionKey'>): Promise<string | undefined>;
  /** Also ends the browser of another worker, within some seconds. Returns false if there was none here. */
  end(tenant: string, sessionKey: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface BrowsersOptions extends StartOptions {
  readonly boxing: Boxing;
  readonly maxBrowsers: number;
  readonly idleMs: number;
  readonly lastPage: (tenant: string, sessionKey: string) => Promise<string | undefined>;
  /** Where calls and stops find it from other workers; `queue` is this worker's own. */
  readonly shared?: { readonly places: BrowserPlaces; readonly queue: string } | undefined;
  /** How often each browser is checked. */
  readonly lookMs?: number;
  readonly memoryBytes?: number;
}

interface Entry {
  readonly started: Promise<StartedBrowser>;
  /** The user of the turn that made it: nobody else is to be where they have logged in (IN-10). */
  readonly user: string | null;
  /** Where it runs, if that is not what was requested. */
  readonly note: string | undefined;
  /** Calls that are using it now. */
  users: number;
  usedAt: number;
}

const LOOK_MS = 5_000;
/** A page may take a gigabyte a second. */
const MEMORY_LOOK_MS = 1_000;
const MEMORY_BYTES = 3 * 1024 * 1024 * 1024;
/** A session that used its browser a moment ago will continue with it. */
const IN_USE_MS = 60_000;

export function createBrowsers(options: BrowsersOptions): Browsers {
  const { maxBrowsers, idleMs, shared, lookMs = LOOK_MS, memoryBytes = MEMORY_BYTES } = options;
  const entries = new Map<string, Entry>();

  async function endEntry(key: string, entry: Entry): Promise<void> {
    if (entries.get(key) === entry) entries.delete(key);
    await ignoring(entry.started.then((started) => started.end()));
  }

  async function ownEntry(key: string, { user }: BrowserCall): Promise<Entry | undefined> {
    const entry = entries.get(key);
    if (!entry || entry.user === user) return entry;
    await endEntry(key, entry);
    return undefined;
  }

  function begin(
    key: string,
    call: BrowserCall,
    { box, note }: { readonly box?: BrowserBox; readonly note?: string },
  ): Entry {
    const forget = (): void => {
      clearInterval(timer);
      clearInterval(memoryLook);
      if (entries.get(key) === entry) entries.delete(key);
    };
    const started = startBrowser(options, useOf(call), forget, box);
    const entry: Entry = { started, user: call.user, note, users: 0, usedAt: performance.now() };
    const timer = setInterval(() => void ignoring(lookAt()), lookMs).unref();
    const lookAt = async (): Promise<void> => {
      await started;
      const isIdle = entry.users === 0 && performance.now() - entry.usedAt > idleMs;
      const isHere = await shared?.places.isAt(call.tenant, call.sessionKey, shared.queue);
      if (isIdle || isHere === false) await endEntry(key, entry);
    };
    const memoryLook = setInterval(() => void ignoring(holdMemory()), MEMORY_LOOK_MS).unref();
    const holdMemory = async (): Promise<void> => {
      if (!(await (await started).holdTo(memoryBytes))) await endEntry(key, entry);
    };
    started.catch(forget);
    entries.set(key, entry);
    return entry;
  }

  /** Ends the browser that was idle the longest; returns false when all are in use. */
  async function endIdle(): Promise<boolean> {
    const [oldest] = [...entries]
      .filter(([, { users }]) => users === 0)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    if (!oldest || performance.now() - oldest[1].usedAt < IN_USE_MS) return false;
    await endEntry(...oldest);
    return true;
  }

  /** Ensures that the session has a browser, which another call of the session may have made. */
  async function entryFor(key: string, call: BrowserCall): Promise<Entry | ToolFailure> {
    if (maxBrowsers === 0)
      return toolError('NotFound', 'browser.maxBrowsers is 0: this worker has no browsers');
    const known = entries.get(key);
    if (known) return known;
    const place = options.endpoint === undefined ? await browserBox(options.boxing, call, memoryBytes) : {};
    if ('ok' in place) return place;
    await shared?.places.put(call.tenant, call.sessionKey, shared.queue);
    while (!entries.has(key) && entries.size >= maxBrowsers)
      if (!(await endIdle()))
        return toolError(
          'RateLimited',
          `${entries.size} browsers are in use on this worker, which is the most; try again in some minutes`,
        );
    return entries.get(key) ?? begin(key, call, place);
  }

  return {
    async use(call, work) {
      const key = keyOf(call.tenant, call.sessionKey);
      const isNew = !(await ownEntry(key, call));
      const entry = await entryFor(key, call);
      return 'ok' in entry ? entry : within(entry, call, (browser) => work(browser, isNew, entry.note));
    },
    async useOpen(call, work) {
      const entry = await ownEntry(keyOf(call.tenant, call.sessionKey), call);
      return entry && within(entry, call, work);
    },
    async elsewhere({ tenant, call, here }) {
      const found = await shared?.places.find(tenant, call);
      if (!shared || !found || found.queue === shared.queue) return undefined;
      const key = keyOf(tenant, found.session);
      const remaining = entries.get(key);
      if (remaining) await endEntry(key, remaining);
      if (!here) return found.queue ?? undefined;
      await shared.places.remove(tenant, found.session);
      return undefined;
    },
    lastPage: ({ tenant, sessionKey }) => options.lastPage(tenant, sessionKey),
    async end(tenant, sessionKey) {
      const key = keyOf(tenant, sessionKey);
      const entry = entries.get(key);
      if (entry) await endEntry(key, entry);
      await shared?.places.remove(tenant, sessionKey);
      return entry !== undefined;
    },
    async close() {
      await Promise.all([...entries].map(([key, entry]) => endEntry(key, entry)));
    },
  };
}

function keyOf(tenant: string, sessionKey: string): string {
  return `${tenant}/${sessionKey}`;
}

function useOf({ tenant, callId, egress }: BrowserCall): ProxyUse {
  return { labels: { tenant, purpose: 'browser', callId }, rules: egress };
}

async function within<Result>(
  entry: Entry,
  call: BrowserCall,
  work: (browser: OpenBrowser) => Promise<Result>,
): Promise<Result | ToolFailure> {
  // A browser that is still starting also counts as used, so that it is not idle.
  entry.users += 1;
  try {
    const started = await entry.started.catch((error: unknown) =>
      toolError('ExecutionFailed', `the browser could not be started: ${shortError(error)}`),
    );
    if ('ok' in started) return started;
    started.browser.proxy.serve(useOf(call));
    return await work(started.browser);
  } finally {
    entry.users -= 1;
    entry.usedAt = performance.now();
  }
}
