/** One session's browser while it runs: its tabs, and what has happened in them that nobody asked for. */
import type { BrowserContext, Dialog, Download, Page } from 'playwright-core';
import type { EgressError } from '../egress/egress-error.ts';
import type { EgressProxy } from '../egress/proxy.ts';

export interface Tab {
  readonly id: string;
  readonly page: Page;
  /** The newest lines that the page has written. */
  readonly console: string[];
}

export interface OpenBrowser {
  readonly context: BrowserContext;
  readonly proxy: EgressProxy;
  /** In the order of their opening. */
  readonly tabs: readonly Tab[];
  /** The tab that actions are for. */
  current(): Tab | undefined;
  find(id: string): Tab | undefined;
  choose(tab: Tab): void;
  /** Undefined when there are as many as may be. */
  newTab(): Promise<Tab | undefined>;
  /** What has happened since the last look: dialogs, new tabs, ends of tabs. */
  takeNotices(): readonly string[];
  takeDownloads(): readonly Download[];
  /** What pages asked for and did not reach, since the last look; what Chromium asks for by itself is not theirs. */
  takeRefusals(): readonly EgressError[];
}

export const MAX_TABS = 8;
const CONSOLE_LINES = 100;
const LINE = 500;
const NOTICES = 20;
const DOWNLOADS = 5;
/** Hosts that pages have asked, the newest. */
const HOSTS = 500;

export function watchBrowser(context: BrowserContext, proxy: EgressProxy): OpenBrowser {
  let tabs: Tab[] = [];
  let chosen: Tab | undefined;
  let numbered = 0;
  const notices: string[] = [];
  let downloads: Download[] = [];
  const hosts = new Set<string>();
  const asked = (url: string): void => {
    if (!URL.canParse(url)) return;
    if (hosts.size >= HOSTS) hosts.clear();
    hosts.add(new URL(url).host);
  };
  const notice = (text: string): void => {
    if (notices.length < NOTICES) notices.push(text.replace(/\s+/g, ' ').slice(0, LINE));
  };

  const add = (page: Page): Tab | undefined => {
    const known = tabs.find((tab) => tab.page === page);
    if (known) return known;
    if (tabs.length >= MAX_TABS) {
      notice(`a new tab was closed: there are ${MAX_TABS}, which is the most`);
      void ignoring(page.close());
      return undefined;
    }
    numbered += 1;
    const tab: Tab = { id: `t${numbered}`, page, console: [] };
    tabs.push(tab);
    chosen = tab;
    const write = (line: string): void => {
      tab.console.push(line.slice(0, LINE));
      if (tab.console.length > CONSOLE_LINES) tab.console.shift();
    };
    page.on('console', (message) => write(`${message.type()}: ${message.text()}`));
    page.on('websocket', (socket) => asked(socket.url()));
    page.on('pageerror', (error) => write(`error: ${String(error)}`));
    page.on('dialog', (dialog) => void answer(dialog, notice));
    page.on('crash', () => {
      notice(`tab ${tab.id} crashed`);
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

  context.on('request', (request) => asked(request.url()));
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

/** A page waits for the answer. Leaving a page is what was asked for; all else is said no to. */
async function answer(dialog: Dialog, notice: (text: string) => void): Promise<void> {
  if (dialog.type() === 'beforeunload') return ignoring(dialog.accept());
  notice(
    `the page showed a dialog (${dialog.type()}), which was dismissed: ${JSON.stringify(dialog.message())}`,
  );
  await ignoring(dialog.dismiss());
}

/** Of what may be gone by now: then there is nothing left to do. */
export async function ignoring(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
