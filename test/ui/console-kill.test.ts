/**
 * IN-2, IN-7, F6: kill -9 of the API and of a worker under pages of the console, which go on with no gap and no
 * duplicate. A worker that is killed leaves the page of health.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { hashSecret, makeKeyId, makeSecret } from '#api/server/auth.ts';
import { insertApiKey, insertTenant } from '#store/api-key-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createStand, type Stand } from '#test/support/faults.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, logIn, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;
const STEPS = 20;

describe('F6 kill -9 under the console', { skip, timeout: 600_000 }, () => {
  let stand: Stand;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    stand = await createStand({ workers: 2 });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await stand?.close();
  });

  it('a worker that is killed leaves the page of health', async () => {
    const db = forTenant(stand.pool, 'default');
    await insertTenant(stand.pool, 'default', 'Default');
    const secret = makeSecret();
    await insertApiKey(db, {
      id: makeKeyId(),
      name: 'operator',
      user: null,
      hash: hashSecret(secret),
      scopes: ['admin'],
      expiresAt: null,
    });
    const { page, complaints } = await openConsole(browser, `${stand.apiUrl}/health`);
    await logIn(page, secret);
    const rows = page.getByRole('group', { name: 'Workers' }).locator('tbody th');
    // The others of this file have one worker.
    const [, killed] = stand.workers;
    await sees(page, /worker[^]*GiB free/);
    await rows.nth(1).waitFor();
    await assertAccessible(page);
    const { pid } = killed ?? {};
    await killed?.kill();
    await rows.nth(1).waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 1);
    assert.doesNotMatch(await rows.innerText(), new RegExp(`^${pid}@`));
    assert.deepEqual(complaints, []);
  });

  it('says that it reconnects, and shows each step once', async () => {
    const [tenant] = stand.tenants;
    const { page, complaints } = await openConsole(browser, stand.apiUrl);
    await logIn(page, tenant.key);
    const steps = Array.from(
      { length: STEPS },
      (_, n) => `Step ${n}.\nexec {"command":"sleep 0.3; echo ran-${n}."}`,
    );
    await stand.say(tenant, 'killed', 'killed', { text: [...steps, 'The end.'].join('\nthen\n') });
    await page.goto(`${stand.apiUrl}/sessions/killed`);
    await sees(page, /Step 2\./);
    await stand.api.kill();
    await sees(page, /reconnecting/);
    await stand.api.start();
    await sees(page, /idle/, /The end\.\s*Attach/);
    // All items are in the document once the list was scrolled from its beginning to its end.
    const shown = new Map<string, string>();
    const list = page.getByRole('list', { name: /^What was said/ });
    await list.evaluate((element) => element.scrollTo(0, 0));
    for (let at = 0; at < 60; at += 1) {
      await page.waitForTimeout(50);
      for (const [position, text] of (await page.evaluate(
        "[...document.querySelectorAll('[role=listitem]')].map((one) => [one.getAttribute('aria-posinset'), one.innerText])",
      )) as [string, string][])
        shown.set(position, text);
      await list.evaluate((element) => element.scrollBy(0, 200));
    }
    const texts = [...shown.values()];
    for (let n = 0; n < STEPS; n += 1) {
      assert.equal(
        texts.filter((text) => text.startsWith('Agent') && text.includes(`Step ${n}.`)).length,
        1,
        `step ${n}`,
      );
      assert.equal(
        texts.filter((text) => text.startsWith('✔') && text.includes(`ran-${n}.`)).length,
        1,
        `call ${n}`,
      );
    }
    assert.equal(texts.length, 2 * STEPS + 2, texts.join('\n'));
    assert.deepEqual(complaints, []);
  });

  it('shows each step of a run once when its worker is killed, and says which outcome nobody knows', async () => {
    const [tenant] = stand.tenants;
    const { page, complaints } = await openConsole(browser, stand.apiUrl, { width: 1280, height: 2_000 });
    await logIn(page, tenant.key);
    const commands = ['echo ran-0.', 'echo ran-1.', 'sleep 20; echo ran-2.', 'echo ran-3.', 'echo ran-4.'];
    const text = commands.map((command) => `exec ${JSON.stringify({ command })}`).join('\nthen\n');
    const turn = await stand.say(tenant, 'killed-worker', 'killed-worker', {
      text: `${text}\nthen\nThe end.`,
    });
    await page.goto(`${stand.apiUrl}/runs/${turn}`);
    await page.getByRole('button', { name: /^running exec.*sleep 20/ }).waitFor();
    await stand.workers[0]?.kill();
    await stand.workers[0]?.start();
    await sees(page, /completed/, /The end\./, /OutcomeUnknown/);
    const rows = await page.getByRole('listitem').allInnerTexts();
    const models = rows.flatMap((row) => /^✔ (\d+) rehearsal/.exec(row)?.[1] ?? []);
    assert.deepEqual(models, ['1', '2', '3', '4', '5', '6']);
    const calls = rows.flatMap((row) => /^. exec.*ran-(\d)/.exec(row)?.[1] ?? []);
    assert.deepEqual(calls, ['0', '1', '2', '3', '4']);
    await page.getByRole('button', { name: /sleep 20/ }).click();
    await sees(page, /Nobody knows whether it took effect/, /was not run again/);
    assert.deepEqual(complaints, []);
  });
});
