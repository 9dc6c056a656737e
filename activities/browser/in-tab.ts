/** What all actions in a tab are made of: their place, their bounds, the element they are for, and the words of what went wrong. */
import type { Locator, Page } from 'playwright-core';
import type { RunningCall } from '#policy/define-tool.ts';
import { toolError, type ToolFailure } from '#domain/tool.ts';
import type { Files } from '../workspace/files.ts';
import type { Asked } from './browser-input.ts';
import { ignoring, type OpenBrowser, type Tab } from './open-browser.ts';

export interface InTab {
  readonly browser: OpenBrowser;
  readonly tab: Tab;
  readonly asked: Asked;
  readonly call: RunningCall;
  readonly files: Files;
}

/** `said`: of the page, not to be trusted. `image`: a picture of it. */
export type Done =
  | { readonly text: string; readonly said?: string; readonly image?: Uint8Array }
  | ToolFailure;

export const NAVIGATION_MS = 30_000;
/** Until an element can be used: one that is hidden or covered will not be. */
export const ELEMENT_MS = 10_000;
/** After an action, for what it sets off. */
export const SETTLE_MS = 5_000;

export interface Terms {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export function terms({ asked, call }: InTab, most = ELEMENT_MS): Terms {
  return { timeout: asked.timeout_ms ?? most, signal: call.signal };
}

/** Whole lines, so that no ref is cut. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf('\n', most);
  return `${text.slice(0, end > 0 ? end : most)}\n[cut: ${most} of ${text.length} characters; ask with max_chars, or less with depth]`;
}

/** A page may never answer: then its tab is closed. A call that is stopped leaves it. */
export async function stoppable<Result>(
  work: Promise<Result>,
  { call, tab }: Pick<InTab, 'call' | 'tab'>,
  most: number,
): Promise<Result> {
  const over = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    const late = setTimeout(() => {
      const problem = new Error(`it did not end within ${most / 1000} s; its tab was closed`);
      void ignoring(within(tab.page.close(), SETTLE_MS)).then(() => reject(problem));
    }, most);
    over.signal.addEventListener('abort', () => clearTimeout(late));
    call.signal.addEventListener('abort', () => reject(new Error('the call was stopped')), over);
  });
  return Promise.race([work, stopped]).finally(() => over.abort());
}

/** The element that the newest snapshot of its frame calls so. */
export async function element({ tab, asked }: InTab): Promise<Locator | ToolFailure> {
  if (asked.ref === undefined) return needs('ref');
  const locator = tab.page.getByRef(asked.ref);
  if ((await locator.count()) > 0) return locator;
  return toolError('NotFound', `there is no ${asked.ref} in the newest snapshot; take one and use its refs`);
}

export function needs(name: string): ToolFailure {
  return toolError('InvalidArgs', `${name}: is required for this action`);
}

/** What an action sets off begins at once; a page that never has all it wants is not waited for. */
export async function acted(page: Page, text: string): Promise<Done> {
  await ignoring(page.waitForTimeout(100));
  await ignoring(page.waitForLoadState('load', { timeout: SETTLE_MS }));
  return { text };
}

export function within<Result>(work: Promise<Result>, most: number): Promise<Result> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`it took longer than ${most / 1000} s`)), most).unref();
    }),
  ]);
}

/** Without what playwright tells those who wrote the script, and its own name for what was done. */
export function shortError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ''] = text.split(/\n(?:Call log|Browser logs|=+ logs)/);
  // Of one that did not start: its last words.
  const last = /.*\[err\] ([^\n]+)/s.exec(text)?.[1] ?? '';
  // eslint-disable-next-line no-control-regex
  return `${first} ${last}`
    .replace(/^[a-zA-Z]+\.[a-zA-Z]+: /, '')
    .replace(/\u001b\[\d+m/g, '')
    .trim()
    .slice(0, 500);
}
