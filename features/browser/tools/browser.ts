/**
 * browser: a real Chromium for pages that only a browser shows. It is `once`, because the effect of a click is unknown,
 * so none is made twice; actions that only read need no claim. The browser lives in one worker and ends with it. The
 * tool then says so, and where the browser was.
 */
import type { Browsers } from '../activities/browsers.ts';
import { randomUUID } from 'node:crypto';
import { defineTool, type RunningCall } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { TAB_ACTIONS } from '../activities/actions.ts';
import { type BrowserCommand, browserInput, canonical } from '../activities/browser-input.ts';
import {
  answers,
  type Done,
  ELEMENT_MS,
  type InTab,
  performed,
  shortError,
  SILENT,
} from '../activities/in-tab.ts';
import { keepDownloads } from '../activities/page-files.ts';
import { endTab, type OpenBrowser, type Tab } from '../activities/open-browser.ts';
import { FileProblem, withFileProblems } from '#activities/workspace/file-problem.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { type ToolFailure, type ToolResult, toolError } from '#domain/tool.ts';

/** A page that spins is left for another without a longer wait. */
const LEAVE_MS = 2_000;
/** Actions that change nothing outside. */
const LOOKS: readonly unknown[] = ['snapshot', 'console', 'tabs', 'status', 'wait'];

type Needs = Pick<ToolDeps, 'files'> & { readonly browsers: Browsers };

export const tool = defineTool<BrowserCommand, Needs>({
  name: 'browser',
  description:
    'Use web pages in a real browser: open them, read them as a tree of elements with refs, click, type, select, upload, take screenshots and PDFs, run scripts. Files that pages give come to the workspace. For pages that need no browser, fetching them is faster.',
  keywords:
    'website site login log in sign fill form button scroll navigate chrome automation screenshot headless tab web press buy shop cart order book reservation checkout javascript dynamic rendered play video cookie download choose select upload page date widget captcha',
  group: 'ui',
  replay: 'once',
  input: browserInput,
  onlyReads: ({ action }) => LOOKS.includes(action),
  outside: true,
  limits: { duration: 'long', timeoutSeconds: 150 },
  summary: ({ action, url, ref, key, request }) =>
    [action, request?.['kind'], url ?? ref ?? request?.['ref'], key]
      .filter((part) => part !== undefined)
      .join(' ')
      .slice(0, 300),
  serial: true,
  elsewhere: ({ browsers }, call) => browsers.elsewhere(call),
  parameterAliases: {
    targetUrl: 'url',
    targetId: 'tab',
    maxChars: 'max_chars',
    fullPage: 'full_page',
    timeoutMs: 'timeout_ms',
    paths: 'files',
    fn: 'script',
    expression: 'script',
    promptText: 'text',
  },
  ignoredParameters: ['interactive', 'compact'],
  run: async (deps, input, call) => {
    const request = canonical(input);
    if ('ok' in request) return request;
    return withFileProblems(() => act(deps, request, call));
  },
});

async function act(deps: Needs, args: BrowserCommand, call: RunningCall): Promise<ToolResult> {
  const { browsers } = deps;
  if (args.action === 'stop') {
    const ended = await browsers.end(call.tenant, call.sessionKey);
    return { ok: true, text: ended ? 'The browser has ended.' : 'There was no browser.' };
  }
  if (args.action === 'navigate' || args.action === 'open' || args.action === 'start')
    return browsers.use(call, async (browser, isNew, place) => {
      const gone = isNew ? await browsers.lastPage(call) : undefined;
      const notes = isNew && place !== undefined ? [place] : [];
      if (gone !== undefined)
        notes.push(`[The browser is new: the one that this session had, on ${gone}, has ended]`);
      return inBrowser(deps, browser, args, call, notes);
    });
  const result = await browsers.useOpen(call, (browser) => inBrowser(deps, browser, args, call, []));
  if (result) return result;
  const gone = await browsers.lastPage(call);
  const was =
    gone === undefined
      ? ''
      : ` The one that this session had, on ${gone}, has ended, with all that was typed there.`;
  const text = `No browser is open.${was} Use navigate with a url.`;
  return args.action === 'status' || args.action === 'tabs'
    ? { ok: true, text }
    : toolError('NotFound', text);
}

async function inBrowser(
  { files }: Needs,
  browser: OpenBrowser,
  request: BrowserCommand,
  call: RunningCall,
  notes: readonly string[],
): Promise<ToolResult> {
  try {
    const tab = await tabFor(browser, request);
    if ('ok' in tab) return tab;
    browser.choose(tab);
    const place = { browser, tab, command: request, call, files };
    const done = await performed(inTab(place), place);
    const after = [...(await keepDownloads({ browser, call, files })), ...browser.takeNotices()];
    const refused = browser.takeRefusals().slice(0, 3);
    const messages = [...after, ...refused.map(({ message }) => `not reached: ${message}`)];
    if ('ok' in done) return { ...done, message: [done.message, ...notes, ...messages].join('\n') };
    const shown = browser.current() ?? tab;
    const url = shown.page.url();
    const text = [messages.join('\n'), done.pageText].filter(Boolean).join('\n');
    const lines = [
      `Page: ${url.slice(0, 1000)} (tab ${shown.id} of ${browser.tabs.length})`,
      ...notes,
      done.text,
    ];
    if (text !== '') lines.push(markOutside({ id: randomUUID(), source: url, text }));
    return { ok: true, text: lines.join('\n'), ...(done.image ? { images: [done.image] } : {}) };
  } catch (error) {
    if (call.signal.aborted || error instanceof FileProblem) throw error;
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const after = browser.takeNotices().map((notice) => `\n${notice}`);
    return toolError(isLate ? 'Timeout' : 'ExecutionFailed', `${shortError(error)}${after.join('')}`);
  }
}

async function tabFor(browser: OpenBrowser, { action, tab }: BrowserCommand): Promise<Tab | ToolFailure> {
  const found = tab === undefined ? browser.current() : browser.find(tab);
  if (found && action === 'navigate') await leave(browser, found);
  if (found && action !== 'open' && !found.page.isClosed()) return found;
  if (tab !== undefined && !found && action !== 'open')
    return toolError('NotFound', `there is no tab ${tab.slice(0, 20)}; action tabs names them`);
  const opened = await browser.newTab();
  return (
    opened ??
    toolError('ExecutionFailed', `${browser.tabs.length} tabs are open, which is the most; close one`)
  );
}

/** A page that does not answer would block its tab for later actions. */
async function leave(browser: OpenBrowser, tab: Tab): Promise<void> {
  await browser.answerDialog(tab);
  if (!(await answers(tab, LEAVE_MS))) await endTab(tab);
}

/** False for pages of the browser itself and files of this machine. */
function isShown({ page }: Tab): boolean {
  return /^(?:https?:|blob:https?:|about:blank|about:srcdoc|chrome-error:)/.test(page.url());
}

async function inTab(place: InTab): Promise<Done> {
  const { browser, tab, command } = place;
  switch (command.action) {
    case 'start':
    case 'status':
    case 'tabs': {
      const lines = browser.tabs.map(
        ({ id, page }) => `${id}${page === tab.page ? ' (current)' : ''}: ${page.url().slice(0, 500)}`,
      );
      return { text: 'The browser runs. Its tabs:', pageText: lines.join('\n') };
    }
    case 'close':
      await endTab(tab);
      return { text: `Closed ${tab.id}.` };
    case 'open':
      return command.url === undefined ? { text: 'Opened an empty tab.' } : TAB_ACTIONS.navigate(place);
    case 'navigate':
    case 'console':
    case 'dialog':
      return TAB_ACTIONS[command.action](place);
    case 'act':
    case 'stop':
      return toolError('InvalidArgs', `action: ${command.action} is not for a tab`);
    default:
      return inPage(place, TAB_ACTIONS[command.action]);
  }
}

/** A dialog that nobody has answered is closed first. */
async function inPage(place: InTab, action: (place: InTab) => Promise<Done>): Promise<Done> {
  const { browser, tab } = place;
  if (!isShown(tab)) {
    const at = tab.page.url().slice(0, 100);
    return toolError('PermissionDenied', `the tab is on ${at}, which is not of the web`);
  }
  await browser.answerDialog(tab);
  if (await answers(tab, ELEMENT_MS)) return action(place);
  await endTab(tab);
  return toolError('ExecutionFailed', SILENT);
}
