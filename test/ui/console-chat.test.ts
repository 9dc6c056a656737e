/** IN-7 talking with agents in the console: messages, files, stops, and decisions in place. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, type ConsolePage, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

describe('IN-7 talking in the console', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    stack = await startStack({ console: { enabled: true } });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(path: string, key = stack.key): Promise<ConsolePage> {
    const opened = await openConsole(browser, `${stack.url}/${path}`);
    await logIn(opened.page, key);
    return opened;
  }
  async function talk(session: string, text: string): Promise<ConsolePage> {
    await stack.worker.ended((await stack.worker.say(session, 'Hello.')).turn_id);
    const opened = await open(`sessions/${session}`);
    await write(opened.page, text);
    return opened;
  }
  async function write(page: Page, text: string): Promise<void> {
    await page.getByLabel('Message').fill(text);
    await page.getByLabel('Message').press('Enter');
  }

  it('begins a session with an agent that is chosen, and shows its answer', async () => {
    const { page, complaints } = await open('sessions');
    await page.getByRole('link', { name: 'New' }).click();
    await page.getByLabel('Agent').selectOption('main');
    await assertAccessible(page);
    await write(page, 'The *first* words.');
    await page.waitForURL(/\/sessions\/web-/);
    await sees(page, /idle/);
    const items = await page.getByRole('listitem').allInnerTexts();
    assert.deepEqual(
      items.map((text) => /The \*?first\*? words\./.exec(text)?.[0]),
      ['The *first* words.', 'The first words.'],
    );
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  it('decides an approval where it stands', async () => {
    const { page, complaints } = await talk('in-place', 'poke {"note":"may I"}');
    const asked = page.getByRole('region', { name: /^Approval of .*poke/ });
    await asked.getByRole('button', { name: 'Approve' }).waitFor();
    await assertAccessible(page);
    await asked.getByRole('button', { name: 'Approve' }).click();
    await sees(page, /approved by/, /idle/);
    assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('steers a running turn, and stops it', async () => {
    const { page, complaints } = await talk('stopped', 'wait {"timeMs":120000}');
    await page.getByRole('button', { name: 'Stop…' }).waitFor();
    await page.getByLabel('When it is read').selectOption('steer');
    await write(page, 'Something else.');
    await sees(page, /running/);
    await page.getByRole('button', { name: 'Stop…' }).click();
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Now, and drop what waits' }).click();
    await sees(page, /Stopped by/, /idle/);
    assert.equal(await page.getByRole('button', { name: 'Stop…' }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  it('says a message once when its answer was lost and it is sent again', async () => {
    const { page } = await talk('lost', 'Begin.');
    await sees(page, /Begin\./, /idle/);
    await page.route('**/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    // Its turn runs when it is sent again.
    await write(page, 'wait {"timeMs":4000}');
    await sees(page, /does not answer/);
    await page.unroute('**/messages');
    await sees(page, /running/);
    await page.getByLabel('Message').press('Enter');
    assert.ok(await eventually(async () => (await page.getByLabel('Message').inputValue()) === ''));
    await sees(page, /idle/);
    const { rows } = await stack.pool.query(
      `select count(*)::int as n from messages where tenant_id = $1 and session_key = 'lost' and role = 'user' and text like 'wait {%'`,
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ n: 1 }]);
  });

  it('sends files with a message', async () => {
    const { page, complaints } = await open('new-session');
    const file = { name: 'otters.csv', mimeType: 'text/csv', buffer: Buffer.from('kind,kg\nsea otter,45\n') };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('otters.csv').waitFor();
    await write(page, 'What is in it?');
    await page.waitForURL(/\/sessions\/web-/);
    await sees(page, /What is in it/, /idle/);
    const { rows } = await stack.pool.query(
      `select a.filename from artifacts a join messages m on m.tenant_id = a.tenant_id
       where a.tenant_id = $1 and m.attachments::text like '%' || a.id || '%'`,
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ filename: 'otters.csv' }]);
    assert.deepEqual(complaints, []);
  });

  it('links to what works for the session', async () => {
    const { page, complaints } = await talk(
      'parent',
      'spawn {"task":"Say hello.","label":"child"}\nthen\nDone.',
    );
    const link = page.getByRole('link', { name: 'child' });
    await link.click();
    await sees(page, /Say hello\./);
    assert.deepEqual(complaints, []);
  });

  it('greys out what the key may not do', async () => {
    await stack.worker.ended((await stack.worker.say('read-only', 'Hello.')).turn_id);
    const { page, complaints } = await open('sessions/read-only', await stack.makeKey(['read']));
    await sees(page, /Hello\./);
    assert.equal(await page.getByLabel('Message').isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Send' }).isDisabled(), true);
    assert.deepEqual(complaints, []);
  });
});
