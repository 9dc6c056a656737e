/**
 * What all actions in a tab use: their tab, their limits, the element they are for, and the words for what went wrong.
 */
import type { Locator, Page } from 'playwright-core';
import { withTimeout } from '#domain/async/with-timeout.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { toolError, type ToolFailure } from '#domain/tool.ts';
import type { Files } from '#activities/workspace/contract.ts';
import type { BrowserCommand } from './browser-input.ts';
import { endTab, ignoring, type OpenBrowser, SETTLE_MS, type Tab } from './open-browser.ts';

export interface InTab {
  readonly browser: OpenBrowser;
  readonly tab: Tab;
  readonly command: BrowserCommand;
  readonly call: RunningCall;
  readonly files: Files;
}

/** `pageText` is the page's own text, which is not trusted. `image` is a picture of it. */
export type Done =
  | { readonly text: string; readonly pageText?: string; readonly image?: Uint8Array }
  | ToolFailure;

export const NAVIGATION_MS = 30_000;
/** Wait until an element is usable: one that is still hidden or covered will stay so. */
export const ELEMENT_MS = 10_000;
export interface Terms {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export function terms({ command, call }: InTab, max = ELEMENT_MS): Terms {
  return { timeout: command.timeout_ms ?? max, signal: call.signal };
}

/** Cuts after whole lines, so that no ref is cut. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.lastIndexOf('\n', limit);
  return `${text.slice(0, end > 0 ? end : limit)}\n[cut: ${limit} of ${text.length} characters; ask with max_chars, or less with depth]`;
}

/** Limit of one action of any kind. */
const ACTION_MS = 45_000;
/** Wait for a page's answer after an action that failed. */
const ANSWER_MS = 3_000;
/** An action that a dialog does not block is over by then. */
const BESIDE_DIALOG_MS = 500;

/**
 * Returns what the action returns. If a dialog blocks the action, it reports the dialog; the action continues when the
 * dialog is answered. A page that does not answer loses its tab. A call that is stopped leaves the page.
 */
export async function performed(work: Promise<Done>, place: InTab): Promise<Done> {
  const { browser, tab, command, call } = place;
  const ended = new AbortController();
  const max = command.action === 'evaluate' ? (command.timeout_ms ?? NAVIGATION_MS) : ACTION_MS;
  const stopped = Promise.withResolvers<never>();
  const late = setTimeout(() => {
    const problem = new Error(`it did not end within ${max / 1000} s; its tab was closed`);
    void endTab(tab).then(() => stopped.reject(problem));
  }, max);
  call.signal.addEventListener('abort', () => stopped.reject(new Error('the call was stopped')), ended);
  const heldUp = Promise.withResolvers<Done>();
  const onDialog = (): void => {
    const text =
      'A dialog is open, and its page waits. Answer it with action dialog; another action in its tab dismisses it.';
    setTimeout(() => heldUp.resolve({ text }), BESIDE_DIALOG_MS);
    clearTimeout(late);
  };
  browser.context.on('dialog', onDialog);
  try {
    return await Promise.race([work, stopped.promise, heldUp.promise]);
  } catch (error) {
    if (call.signal.aborted || tab.page.isClosed() || (await answers(tab, ANSWER_MS))) throw error;
    await endTab(tab);
    throw new Error(SILENT, { cause: error });
  } finally {
    ended.abort();
    clearTimeout(late);
    browser.context.off('dialog', onDialog);
  }
}

export const SILENT = 'the page does not answer any more; its tab was closed';

/** Returns false for a page that spins or has crashed. A page with an open dialog only waits for an answer. */
export async function answers({ page, dialog }: Tab, max: number): Promise<boolean> {
  if (dialog) return true;
  const pending = page.evaluate('1').then(
    () => true,
    // A page that is just navigating also counts as answering.
    (error: unknown) => !/crashed|closed/.test(String(error)),
  );
  return (await withTimeout(max, pending)) ?? false;
}

/** The element with this ref in the newest snapshot of its frame. */
export async function element({ tab, command }: InTab): Promise<Locator | ToolFailure> {
  if (command.ref === undefined) return needs('ref');
  const locator = tab.page.getByRef(command.ref);
  if ((await locator.count()) > 0) return locator;
  return toolError(
    'NotFound',
    `there is no ${command.ref} in the newest snapshot; take one and use its refs`,
  );
}

export function needs(name: string): ToolFailure {
  return toolError('InvalidArgs', `${name}: is required for this action`);
}

/** What an action triggers begins at once. A page that never finishes loading is not awaited. */
export async function acted(page: Page, text: string): Promise<Done> {
  await ignoring(page.waitForTimeout(100));
  await ignoring(page.waitForLoadState('load', { timeout: SETTLE_MS }));
  return { text };
}

/** Removes playwright's hints for authors of scripts, and its own name of the action. */
export function shortError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ''] = text.split(/\n(?:Call log|Browser logs|=+ logs)/);
  // If Chromium did not start, this is its last output.
  const last = /.*\[err\] ([^\n]+)/s.exec(text)?.[1] ?? '';
  // eslint-disable-next-line no-control-regex
  return `${first} ${last}`
    .replace(/^[a-zA-Z]+\.[a-zA-Z]+: /, '')
    .replace(/\u001b\[\d+m/g, '')
    .trim()
    .slice(0, 500);
}
