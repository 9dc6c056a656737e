/** IN-7: what a new user does first: starts TempoClaw, follows its link, says something, and approves a command. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { findChromium, sees, startBrowser } from '#test/ui/browser.ts';
import { openConsole } from '#test/ui/console-page.ts';
import { type Clone, cloneRepository } from './program.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

describe('IN-7 a first approval', { skip }, () => {
  let clone: Clone;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    [clone, browser] = await Promise.all([cloneRepository(), startBrowser(chromium)]);
  });
  after(async () => {
    await browser?.close();
    await clone?.remove();
  });

  it('is two clicks and a sentence away from npm start', async (t) => {
    const began = performance.now();
    const program = await clone.start();
    const started = performance.now();
    const [, link] = /^ *(http\S+\/login#[\w-]+)$/m.exec(program.printed()) ?? [];
    assert.ok(link, program.printed());
    const { page, complaints } = await openConsole(browser, link);
    await page.getByRole('link', { name: 'New' }).click();
    await page.getByLabel('Message').fill('run a command');
    await page.getByLabel('Message').press('Enter');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await sees(page, /It printed:\s+42/, /idle/);
    const seconds = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`;
    t.diagnostic(
      `${seconds(began)} from npm start, which includes building the console; ${seconds(started)} in the browser`,
    );
    assert.deepEqual(complaints, []);
  });
});
