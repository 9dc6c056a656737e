/** Chromium as a person's browser, for pages that only a browser shows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { commandFolders } from '#config';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Returns undefined when none is installed. */
export function findChromium(): string | undefined {
  return commandFolders()
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

export function startBrowser(executablePath: string): Promise<Browser> {
  // Root, which CI machines run as, has no sandbox of its own.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A page whose failed requests to elsewhere do not matter: the machine may have no internet. */
export function openPage(browser: Browser, size: { width: number; height: number }): Promise<Page> {
  return browser.newPage({ viewport: size, colorScheme: 'light', timezoneId: 'UTC', locale: 'en-US' });
}

/** Far longer than a page takes on a busy machine. */
const PATIENCE_MS = 90_000;

/** Waits until the page, including its frames, shows all `patterns`; fails with what it shows instead. */
export async function sees(page: Page, ...patterns: readonly RegExp[]): Promise<string> {
  let shown = '';
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    shown = await textOf(page);
    if (patterns.every((pattern) => pattern.test(shown))) return shown;
    await page.waitForTimeout(100);
  }
  const missing = patterns.filter((pattern) => !pattern.test(shown));
  throw new Error(`${page.url()} never showed ${missing.join(', ')}; it shows:\n${shown.slice(0, 4_000)}`);
}

async function textOf(page: Page): Promise<string> {
  const texts = await Promise.all(
    page.frames().map((frame) =>
      // A frame may be replaced while it is read; the next check finds it.
      frame
        .locator('body')
        .innerText({ timeout: 1_000 })
        .catch(() => ''),
    ),
  );
  return texts.join('\n');
}
