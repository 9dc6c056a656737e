/** One session's browser while it runs: its tabs, and events in them that no action requested. */
import type { BrowserContext, CDPSession, ConsoleMessage, Dialog, Download, Page } from 'playwright-core';
import type { EgressError } from '@tempoclaw/egress';
import { withTimeout } from '#domain/async/with-timeout.ts';
import type { EgressProxy } from '#activities/egress/create-egress.ts';

export interface Tab {
  readonly id: string;
  readonly page: Page;
  /** Opened before a page can prevent that. */
  readonly session: Promise<CDPSession>;
  /** The newest console lines of the page. */
  readonly console: string[];
  /** The open dialog; its page waits for the answer. */
  dialog?: Dialog | undefined;
}

export interface OpenBrowser {
  readonly context: BrowserContext;
  readonly proxy: EgressProxy;
  /** In the order in which they were opened. */
  readonly tabs: readonly Tab[];
  /** The tab that actions apply to. */
  current(): Tab | undefined;
  find(id: string): Tab | undefined;
  choose(tab: Tab): void;
  /** Returns undefined when the maximum number of tabs is open. */
  newTab(): Promise<Tab | undefined>;
  /**
   * With `accept` undefined, nobody has answered: the dialog for leaving a page is accepted, because leaving was
   * requested, and all others are dismissed.
   */
  answerDialog(tab: Tab, accept?: boolean, text?: string): Promise<void>;
  /** Returns what has happened since the last call: dialogs, new tabs, ends of tabs. */
  takeNotices(): readonly string[];
  takeDownloads(): readonly Download[];
  /** Returns what pages requested and could not reach since the last call, without what Chromium requests by itself. */
  takeRefusals(): readonly EgressError[];
}

export const MAX_TABS = 8;
/** How long an orderly end may take. */
const CLOSE_MS = 1_000;
/** Wait after an action for what it triggers. */
export const SETTLE_MS = 5_000;
/** What a page may write in a second, and how often it may change its address; more would fill the worker's memory. */
const FLOOD = { characters: 5_000_000, events: 2_000 };
const CONSOLE_LINES = 100;
const LINE = 500;
const NOTICES = 20;
const DOWNLOADS = 5;
/** Hosts that pages have requested most recently. */
const HOSTS = 500;

export function watchBrowser(context: BrowserContext, proxy: EgressProxy): OpenBrowser {
  let tabs: Tab[] = [];
  let chosen: Tab | undefined;
  let numbered = 0;
  const notices: string[] = [];
  let downloads: Download[] = [];
  const hosts = new Set<string>();
  const onRequest = (url: string): void => {
    if (!URL.canParse(url)) return;
    if (hosts.size >= HOSTS) hosts.clear();
    hosts.add(new URL(url).host);
  };
  const notice = (text: string): void => {
    if (notices.length < NOTICES) notices.push(text.replace(/\s+/g, ' ').slice(0, LINE));
  };

  async function answerDialog(tab: Tab, accept?: boolean, text?: string): Promise<void> {
    const { id, dialog } = tab;
    if (!dialog) return;
    tab.dialog = undefined;
    const isYes = accept ?? dialog.type() === 'beforeunload';
    const what = `${isYes ? 'accepted' : 'dismissed'} without an answer`;
    if (accept === undefined) notice(`the dialog (${dialog.type()}) of tab ${id} was ${what}`);
    await ignoring(isYes ? dialog.accept(text) : dialog.dismiss());
  }

  const add = (page: Page): Tab | undefined => {
    const known = tabs.find((tab) => tab.page === page);
    if (known) return known;
    if (tabs.length >= MAX_TABS) {
      notice(`a new tab was closed: there are ${MAX_TABS}, which is the most`);
      void ignoring(page.close());
      return undefined;
    }
    numbered += 1;
    const id = `t${numbered}`;
    const session = context.newCDPSession(page);
    session.catch(() => undefined);
    const tab: Tab = { id, page, session, console: [] };
    tabs.push(tab);
    chosen = tab;
    keepConsole(tab, notice);
    page.on('websocket', (socket) => onRequest(socket.url()));
    page.on('dialog', (dialog) => {
      void answerDialog(tab);
      tab.dialog = dialog;
      const value = dialog.defaultValue() && `, ${JSON.stringify(dialog.defaultValue())}`;
      notice(`tab ${id} shows a dialog (${dialog.type()}): ${JSON.stringify(dialog.message())}${value}`);
    });
    page.on('crash', () => {
      notice(`tab ${id} was closed: its page has crashed`);
      void ignoring(page.close());
    });
    page.on('close', () => {
      tabs = tabs.filter((other) => other !== tab);
      if (chosen === tab) chosen = tabs.at(-1);
    });
    page.on('download', (download) => {
      if (downloads.length < DOWNLOADS) downloads.push(download);
      else void ignoring(download.cancel());
    });
    return tab;
  };

  context.on('request', (request) => onRequest(request.url()));
  for (const page of context.pages()) add(page);
  context.on('page', (page) => {
    const tab = add(page);
    if (tab) notice(`tab ${tab.id} was opened`);
  });
  return {
    context,
    proxy,
    get tabs() {
      return tabs;
    },
    current: () => chosen,
    find: (id) => tabs.find((tab) => tab.id === id),
    choose(tab) {
      chosen = tab;
    },
    async newTab() {
      return tabs.length >= MAX_TABS ? undefined : add(await context.newPage());
    },
    answerDialog,
    takeNotices: () => notices.splice(0),
    takeRefusals: () =>
      proxy.takeRefusals().filter(({ message }) => [...hosts].some((host) => message.includes(host))),
    takeDownloads() {
      const taken = downloads;
      downloads = [];
      return taken;
    },
  };
}

/** Keeps the newest console lines. A page that writes without end loses its tab. */
function keepConsole(tab: Tab, notice: (text: string) => void): void {
  const { id, page, console } = tab;
  const onConsole = (message: ConsoleMessage): void => {
    write(`${message.type()}: ${message.text()}`);
    // Playwright keeps ten thousand of them, however long they are.
    for (const handle of message.args()) void ignoring(handle.dispose());
  };
  const onError = (error: Error): void => write(`error: ${String(error)}`);
  const count = countFlood(() => {
    // Lines that are still in transit are not delivered to us.
    page.off('console', onConsole);
    page.off('pageerror', onError);
    notice(`tab ${id} was closed: its page writes without end`);
    crash(tab);
  });
  const write = (line: string): void => {
    count(line.length);
    console.push(line.slice(0, LINE));
    if (console.length > CONSOLE_LINES) console.shift();
  };
  page.on('console', onConsole);
  page.on('pageerror', onError);
  page.on('framenavigated', () => count(0));
}

/** `onFlood` is called once, when there is too much in a second. */
function countFlood(onFlood: () => void): (characters: number) => void {
  let since = 0;
  let sum = { characters: 0, events: 0 };
  let isOver = false;
  return (characters) => {
    const now = performance.now();
    if (now - since > 1_000) {
      since = now;
      sum = { characters: 0, events: 0 };
    }
    sum.characters += characters;
    sum.events += 1;
    if (isOver || (sum.characters <= FLOOD.characters && sum.events <= FLOOD.events)) return;
    isOver = true;
    onFlood();
  };
}

/** Ignores errors of something that may be gone by now; then there is nothing left to do. */
export async function ignoring(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

/** Also ends a page that spins, because its process ends with it. */
export async function endTab(tab: Tab): Promise<void> {
  const { page } = tab;
  await ignoring(withTimeout(CLOSE_MS, page.close()));
  if (page.isClosed()) return;
  crash(tab);
  await ignoring(withTimeout(SETTLE_MS, page.close()));
}

/** Ends the tab's process, with whatever floods us; the tab is closed when the crash is noticed. */
function crash({ session }: Tab): void {
  void ignoring(session.then((open) => open.send('Page.crash')));
}
