/** Pages of the console in a real browser, whose complaints fail the test. */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { buildConsole } from '#features/console/build-console.ts';

export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser has refused, failed to run or not found. */
  readonly complaints: string[];
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly timezoneId?: string | undefined;
}

/** Builds it where its files are missing or old. */
export async function buildFiles(): Promise<void> {
  assert.match(await buildConsole(), /^(built|up to date)$/);
}

/** Like a new browser: nothing is stored in it. */
export async function openConsole(
  browser: Browser,
  address: string,
  { width = 1280, height = 800, timezoneId = 'UTC' }: PageOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: 'light',
    timezoneId,
    locale: 'en-US',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // Chromium also writes each refused request, which tests of refusals send on purpose, and what it ignores in the
    // headers of a canvas.
    const isExpected =
      /status of (40[01349]|410|422)|directive 'webrtc'|origin-keyed agent cluster|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/.test(
        message.text(),
      );
    if (['error', 'warning'].includes(message.type()) && !isExpected) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => console.error('policy', violatedDirective, blockedURI))",
  );
  await page.goto(address);
  return { page, context, complaints };
}

export async function logIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Fails with each rule of WCAG 2.2 AA that the page breaks. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const broken = await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))",
  );
  assert.deepEqual(broken, [], page.url());
}
