/** AP-2 in a real browser: the page of a link shows what will run on a phone, and its buttons decide. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Stack, startStack } from '#test/support/stack.ts';
import { findChromium, openPage, sees, startBrowser } from './browser.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

describe('AP-2 the page of an approval link', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    stack = await startStack();
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function askFor(session: string, note: string): Promise<{ turn: string; url: string }> {
    const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, {
      body: { text: `poke ${JSON.stringify({ note })}` },
    });
    const id = await stack.worker.approvalOf(session);
    const link = await stack.ask('POST', `/v1/approvals/${id}/links`, { body: { for: 'ann' } });
    return { turn: body.turn_id, url: link.body.url };
  }
  /** A page, and its errors. */
  async function look(url: string, width: number): Promise<{ page: Page; complaints: string[] }> {
    const page = await openPage(browser, { width, height: 800 });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    await page.goto(url);
    return { page, complaints };
  }
  const overflow = (page: Page): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  for (const [width, note] of [
    [360, `a-long-word-${'x'.repeat(300)}`],
    [1280, '<img src=x onerror=alert(1)>'],
  ] as const)
    it(`fits ${width} pixels, runs and loads nothing, and approves`, async () => {
      const { turn, url } = await askFor(`page-${width}`, note);
      const { page, complaints } = await look(url, width);
      const shown = await sees(page, /May this run\?/, /You decide as ann/);
      assert.ok(shown.includes(note));
      assert.equal(await overflow(page), 0);
      const approve = page.getByRole('button', { name: 'Approve' });
      const size = await approve.boundingBox();
      assert.ok(size && size.height >= 44, 'large enough for a finger');
      await approve.click();
      await sees(page, /You decided: approve/);
      assert.equal(page.url(), url);
      assert.deepEqual(complaints, []);
      await stack.worker.ended(turn);
      assert.equal(stack.worker.probes.effects.filter((effect) => effect.note === note).length, 1);
    });

  it('changes the call before it runs, and shows what is wrong with a change', async () => {
    const { turn, url } = await askFor('page-change', 'as asked\u202e');
    const { page } = await look(url, 360);
    await page.getByText('Change it before it runs').click();
    const args = page.getByLabel(/The arguments to run instead/);
    assert.equal(await args.inputValue(), '{\n  "note": "as asked\\u202e"\n}');
    assert.equal(await overflow(page), 0);
    await args.fill('{"note": "changed"');
    await page.getByRole('button', { name: 'Run it so' }).click();
    await sees(page, /not an object in JSON/);
    assert.equal(await args.inputValue(), '{"note": "changed"');
    await args.fill('{"note": "changed"}');
    await page.getByRole('button', { name: 'Run it so' }).click();
    await sees(page, /You decided: edit/);
    await stack.worker.ended(turn);
    assert.equal(stack.worker.probes.effects.filter((effect) => effect.note === 'changed').length, 1);
  });

  it('rejects with a reason, by the keyboard alone', async () => {
    const { turn, url } = await askFor('page-keys', 'keys');
    const { page } = await look(url, 360);
    for (const _ of ['approve', 'change', 'why not']) await page.keyboard.press('Tab');
    await page.keyboard.type('not today');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await sees(page, /You decided: reject/);
    await stack.worker.ended(turn);
    assert.match((await stack.worker.calls(turn))[0]?.result ?? '', /ann denied the call: not today/);
  });
});
