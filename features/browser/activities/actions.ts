/** What the tool `browser` can do in a tab. Each action returns words of ours and, separately, what the page says. */
import type { Frame, Locator, Page, Request } from 'playwright-core';
import { judgeUrl } from '@tempoclaw/egress/rules';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { toolError, type ToolFailure } from '#domain/tool.ts';
import { egressResult } from '#activities/egress/egress-result.ts';
import { acted, cut, type Done, element, type InTab, NAVIGATION_MS, needs, terms } from './in-tab.ts';
import type { TAB_ACTION_NAMES } from './browser-input.ts';
import { ignoring, SETTLE_MS } from './open-browser.ts';
import { pdf, screenshot, upload } from './page-files.ts';

export const TAB_ACTIONS = {
  navigate,
  snapshot,
  click,
  type: typeText,
  press,
  select,
  hover,
  wait,
  evaluate,
  upload,
  screenshot,
  pdf,
  console: readConsole,
  dialog: answerDialog,
} satisfies Readonly<Record<(typeof TAB_ACTION_NAMES)[number], (place: InTab) => Promise<Done>>>;

async function navigate(place: InTab): Promise<Done> {
  const { browser, tab, command, call } = place;
  if (command.url === undefined) return needs('url');
  const verdict = judgeUrl(command.url, call.egress);
  // The proxy judges the host, and keeps a row of the request.
  if (verdict.decision === 'deny' && ['malformed', 'scheme', 'userinfo'].includes(verdict.rule))
    return toolError('PermissionDenied', `${command.url.slice(0, 300)} may not be opened: ${verdict.reason}`);
  let opened = command.url;
  const onRequest = (request: Request): void => {
    if (request.isNavigationRequest() && request.frame() === tab.page.mainFrame()) opened = request.url();
  };
  tab.page.on('request', onRequest);
  browser.takeRefusals();
  // Icons of the previous page are requested a moment later, and may be refused in the meantime.
  const refused = (): ToolFailure | undefined => {
    const host = new URL(opened).hostname.replace(/^\[|\]$/g, '');
    const refusal = browser.takeRefusals().findLast(({ message }) => message.includes(host));
    return refusal && (egressResult(refusal) as ToolFailure);
  };
  let status: number | undefined;
  let began = (): void => undefined;
  const download = new Promise<void>((done) => {
    began = done;
  });
  tab.page.once('download', began);
  // The error page comes a moment after the failure, and would interrupt what is opened next.
  let failed = (): void => undefined;
  const errorPage = new Promise<void>((done) => {
    failed = done;
  });
  const onNavigated = (frame: Frame): void => {
    if (frame === tab.page.mainFrame() && frame.url().startsWith('chrome-error:')) failed();
  };
  tab.page.on('framenavigated', onNavigated);
  try {
    const response = await tab.page.goto(command.url, { ...terms(place, NAVIGATION_MS), waitUntil: 'load' });
    status = response?.status();
  } catch (error) {
    if (/net::ERR_(?!ABORTED)/.test(String(error))) await ignoring(withTimeout(SETTLE_MS, errorPage));
    const refusal = refused();
    if (refusal) return refusal;
    // The answer was a file.
    if (!/Download is starting/.test(String(error))) throw error;
    await ignoring(withTimeout(SETTLE_MS, download));
    return { text: 'The address gave a file.' };
  } finally {
    tab.page.off('download', began);
    tab.page.off('framenavigated', onNavigated);
    tab.page.off('request', onRequest);
  }
  const refusal = status === 403 || status === 502 ? refused() : undefined;
  if (refusal) return refusal;
  return {
    text: status === undefined || status < 400 ? 'Opened.' : `The server answered with status ${status}.`,
  };
}

async function snapshot(place: InTab): Promise<Done> {
  const { tab, command } = place;
  const depth = command.depth === undefined ? {} : { depth: command.depth };
  const title = await tab.page.title();
  const tree = await tab.page.ariaSnapshot({ mode: 'ai', ...depth, ...terms(place) });
  const kept = cut(tree, command.max_chars);
  return {
    text: 'Elements by ref:',
    pageText: `Title: ${title.slice(0, 300)}\n${kept || '(the page is empty)'}`,
  };
}

async function click(place: InTab): Promise<Done> {
  const { tab, command } = place;
  const at = command.x === undefined || command.y === undefined ? undefined : { x: command.x, y: command.y };
  const how = { button: command.button ?? 'left', clickCount: command.double ? 2 : 1 } as const;
  const found = await clickable(place);
  if (found && 'ok' in found) return found;
  if (found) await found.click({ ...how, ...(at ? { position: at } : {}), ...terms(place) });
  else if (at) await tab.page.mouse.click(at.x, at.y, how);
  else return needs('ref, text, or x and y');
  return acted(tab.page, 'Clicked.');
}

/** Returns undefined if it is a position in the window. */
async function clickable(place: InTab): Promise<Locator | ToolFailure | undefined> {
  const { tab, command } = place;
  if (command.ref !== undefined) return element(place);
  return command.text === undefined ? undefined : tab.page.getByText(command.text, { exact: true }).first();
}

async function typeText(place: InTab): Promise<Done> {
  const { tab, command } = place;
  if (command.text === undefined) return needs('text');
  const found = await element(place);
  if ('ok' in found) return found;
  if (command.slowly) await found.pressSequentially(command.text, terms(place));
  else await found.fill(command.text, terms(place));
  if (command.submit) await found.press('Enter', terms(place));
  return acted(tab.page, `Typed into ${command.ref}.`);
}

async function press(place: InTab): Promise<Done> {
  const { tab, command } = place;
  if (command.key === undefined) return needs('key');
  if (command.ref === undefined) await tab.page.keyboard.press(command.key);
  else {
    const found = await element(place);
    if ('ok' in found) return found;
    await found.press(command.key, terms(place));
  }
  return acted(tab.page, `Pressed ${command.key}.`);
}

async function select(place: InTab): Promise<Done> {
  const { tab, command } = place;
  if (command.values === undefined) return needs('values');
  const found = await element(place);
  if ('ok' in found) return found;
  const chosen = await found.selectOption([...command.values], terms(place));
  return acted(tab.page, `Selected ${chosen.length} of ${command.values.length} in ${command.ref}.`);
}

async function hover(place: InTab): Promise<Done> {
  const found = await element(place);
  if ('ok' in found) return found;
  await found.hover(terms(place));
  return acted(place.tab.page, `The pointer is over ${place.command.ref}.`);
}

async function wait(place: InTab): Promise<Done> {
  const { tab, command } = place;
  if (command.text !== undefined) {
    await tab.page.getByText(command.text).first().waitFor(terms(place, NAVIGATION_MS));
    return { text: 'The text is there.' };
  }
  if (command.ref !== undefined) {
    const found = await element(place);
    if ('ok' in found) return found;
    await found.waitFor(terms(place, NAVIGATION_MS));
    return { text: `${command.ref} is there.` };
  }
  const seconds = command.seconds ?? 1;
  await new Promise((done) => setTimeout(done, seconds * 1000).unref());
  return { text: `Waited ${seconds} s.` };
}

/** Characters of a script's result as JSON. */
const MAX_JSON = 100_000;

async function evaluate(place: InTab): Promise<Done> {
  const { tab, command } = place;
  if (command.script === undefined) return needs('script');
  const found = command.ref === undefined ? undefined : await element(place);
  if (found && 'ok' in found) return found;
  const value = await scriptResult(tab.page, found, command.script);
  return { text: 'The script gave:', pageText: cut(value ?? 'undefined', command.max_chars) };
}

/** Runs the script in the frame of the element, which the function gets as its argument. */
async function scriptResult(
  page: Page,
  found: Locator | undefined,
  script: string,
): Promise<string | undefined> {
  const node = found && (await found.elementHandle());
  const frame = (await node?.ownerFrame()) ?? page.mainFrame();
  const input = await frame.evaluateHandle(script);
  // The result is text that is cut in the page, because it may be as large as the page's memory.
  return input.evaluate(
    async (it: unknown, [to, max]) =>
      JSON.stringify(await (typeof it === 'function' ? it(to) : it))?.slice(0, max),
    [node, MAX_JSON] as const,
  );
}

async function answerDialog({ browser, tab, command }: InTab): Promise<Done> {
  const { accept = command.text === undefined ? undefined : true } = command;
  if (!tab.dialog) return toolError('NotFound', `tab ${tab.id} shows no dialog`);
  if (accept === undefined) return needs('accept');
  await browser.answerDialog(tab, accept, command.text);
  return acted(tab.page, accept ? 'Accepted.' : 'Dismissed.');
}

async function readConsole({ tab, command }: InTab): Promise<Done> {
  const lines = tab.console.splice(0).join('\n');
  return {
    text: 'What the page has written since the last look:',
    pageText: cut(lines || '(nothing)', command.max_chars),
  };
}
