/** IN-7 the web console in a real browser, on a real worker. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

describe('IN-7 the web console', { skip }, () => {
  let stack: Stack;
  let browser: Browser;
  let site: WebSite;
  const ends: (() => void)[] = [];
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    site = await startSite({ after: (end) => void ends.push(end) }, (_request, reply) =>
      reply.end('reached'),
    );
    stack = await startStack({ console: { enabled: true } });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
    for (const end of ends) end();
  });

  async function say(session: string, text: string): Promise<string> {
    const { status, body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, { body: { text } });
    assert.equal(status, 202, JSON.stringify(body));
    return body.turn_id;
  }
  const loginLink = async (): Promise<string> => (await stack.ask('POST', '/v1/console/links')).body.url;
  const overflow = (page: Page): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  it('asks for a key at any address, shows what is wrong with one, and keeps it nowhere', async () => {
    await stack.worker.ended(await say('deep', 'Deep answer.'));
    const { page, complaints } = await openConsole(browser, `${stack.url}/sessions/deep`);
    await assertAccessible(page);
    await page.getByLabel('API key').fill(`tc_${'A'.repeat(43)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await sees(page, /key is not known/);
    await logIn(page, stack.key);
    await sees(page, /Deep answer\./);
    assert.equal(new URL(page.url()).pathname, '/sessions/deep');
    const kept = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state])',
    );
    assert.equal(kept, '["",{},{},null]');
    await page.reload();
    await sees(page, /Deep answer\./);
    assert.deepEqual(complaints, []);
  });

  it('logs in by a link once, and leaves no trace of it in the address', async () => {
    const link = await loginLink();
    const { page, complaints } = await openConsole(browser, link);
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    assert.equal(page.url(), `${stack.url}/`);
    await page.goBack();
    assert.ok(!page.url().includes(new URL(link).hash));
    const second = await openConsole(browser, link);
    await sees(second.page, /link was used before/);
    assert.deepEqual([...complaints, ...second.complaints], []);
  });

  it('lists sessions, and shows a session live', async () => {
    await stack.worker.ended(await say('live', 'First answer.'));
    const { page, complaints } = await openConsole(browser, await loginLink());
    const link = page.locator('a[href="/sessions/live"]');
    await link.waitFor();
    await assertAccessible(page);
    await link.click();
    await sees(page, /First answer\./);
    const turn = await say('live', 'I look.\ndatetime {"timezone": "UTC"}\nthen\nThe *second* answer.');
    await stack.worker.ended(turn);
    await sees(page, /I look\./, /✔ /, /The second answer\./);
    const shown = await page.getByRole('list', { name: /^What was said/ }).innerText();
    assert.equal(shown.match(/First answer\./g)?.length, 2, 'the message and its answer, once each');
    await page.getByRole('emphasis').filter({ hasText: 'second' }).waitFor();
    await assertAccessible(page);
    const asks = await say('live', 'poke {"note":"may I"}');
    await sees(page, /Waits for approval: .*poke/i, /waiting approval/);
    await stack.ask('POST', `/v1/approvals/${await stack.worker.approvalOf('live')}/decision`, {
      body: { decision: 'approve' },
    });
    await stack.worker.ended(asks);
    await sees(page, /approved by/, /idle/);
    assert.deepEqual(complaints, []);
  });

  it('R1 shows what models write as text: no HTML, no pictures of others, links with their host', async () => {
    const hostile = [
      `<img src="${site.url}/image" onerror="alert(1)"><script>document.title = 'taken'</script>`,
      `![picture](${site.url}/picture) [Your bank](${site.url}/bank) [run](javascript:alert(1))`,
      `<style>body { background: url(${site.url}/style) }</style><form action="${site.url}"><input name="key"></form>`,
    ].join('\n\n');
    await stack.worker.ended(await say('hostile', hostile));
    const { page, complaints } = await openConsole(browser, await loginLink());
    await page.locator('a[href="/sessions/hostile"]').click();
    await sees(page, /Your bank 127\.0\.0\.1:\d+/, /<script>/);
    const elements = await page.evaluate(
      "['img', 'script', 'style', 'form', 'input', '[onerror]', '[style*=url]'].map((one) => document.querySelectorAll('[role=listitem] ' + one).length).join()",
    );
    assert.equal(elements, '0,0,0,0,0,0,0');
    const links = await page.evaluate(
      "[...document.querySelectorAll('.markdown a')].map((a) => a.href + ' ' + a.rel)",
    );
    assert.deepEqual(links, [`${site.url}/bank noopener noreferrer`]);
    assert.deepEqual(site.requests, []);
    assert.deepEqual(complaints, []);
  });

  it('is used by the keyboard, in the dark, and says which keys there are', async () => {
    const { page, complaints } = await openConsole(browser, await loginLink());
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Go to Sessions').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    assert.equal(await dialog.isVisible(), false);
    await page.keyboard.press('/');
    await page.keyboard.type('g s');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'g s');
    await page.goto(`${stack.url}/sessions/deep`);
    await sees(page, /Deep answer\./);
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    const light = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    for (const name of ['Theme: system', 'Theme: light']) await page.getByRole('button', { name }).click();
    assert.notEqual(await page.evaluate('getComputedStyle(document.body).backgroundColor'), light);
    await assertAccessible(page);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('fits a phone, with the navigation below', async () => {
    const { page, complaints } = await openConsole(browser, await loginLink(), { width: 390, height: 800 });
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    for (const path of ['/sessions', '/sessions/hostile', '/nothing']) {
      await page.goto(stack.url + path);
      const link = page.getByRole('navigation').getByRole('link', { name: 'Sessions' });
      await link.waitFor();
      assert.equal(await overflow(page), 0, path);
      const place = await link.boundingBox();
      assert.ok(place && place.y > 700 && place.height >= 44, JSON.stringify(place));
      await assertAccessible(page);
    }
    assert.deepEqual(complaints, []);
  });

  it('has only the rows in sight in the document, and reads more as the person scrolls', async () => {
    await stack.pool.query(
      `insert into sessions (tenant_id, key, agent_key, updated_at)
       select $1, 'many-' || n, 'many', now() - interval '1 day' - n * interval '1 second' from generate_series(1, 450) n`,
      [stack.tenant],
    );
    const { page, complaints } = await openConsole(browser, await loginLink());
    await page.getByRole('link', { name: /^many-1 / }).waitFor();
    const list = page.getByRole('list', { name: 'Sessions' });
    for (
      let tries = 0;
      tries < 200 && !(await page.getByRole('link', { name: /^many-450 / }).isVisible());
      tries += 1
    ) {
      assert.ok((await list.getByRole('listitem').count()) < 60);
      await list.evaluate((element) => element.scrollBy(0, 2_000));
      await page.waitForTimeout(50);
    }
    await page.getByRole('link', { name: /^many-450 / }).waitFor();
    assert.deepEqual(complaints, []);
  });

  it('copies a request for a terminal', async () => {
    const { page, context } = await openConsole(browser, await loginLink());
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.goto(`${stack.url}/sessions/deep`);
    await page.getByRole('button', { name: 'Copy as…' }).click();
    await page.getByRole('button', { name: 'Copy as command' }).click();
    await page.getByText('Copied').waitFor();
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      'npx tempoclaw sessions messages deep',
    );
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const curl = String(await page.evaluate('navigator.clipboard.readText()'));
    assert.match(
      curl,
      /^curl -s "\$TEMPOCLAW_URL"\/v1\/sessions\/deep\/messages -H "Authorization: Bearer \$TEMPOCLAW_API_KEY"$/,
    );
  });

  it('asks for a login after a logout, and when the key is revoked', async () => {
    const { page, complaints } = await openConsole(browser, await loginLink());
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
    const { body } = await stack.ask('POST', '/v1/api-keys', { body: { name: 'short', scopes: ['read'] } });
    await logIn(page, body.secret);
    await page.goto(`${stack.url}/sessions/deep`);
    await sees(page, /Deep answer\./);
    await stack.ask('DELETE', `/v1/api-keys/${body.id}`);
    await page.getByLabel('API key').waitFor();
    assert.deepEqual(complaints, []);
  });
});
