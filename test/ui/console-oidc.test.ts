/** IN-10 a person logs in to the console at an identity provider of another site, in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { insertTenant } from '#store/api-key-store.ts';
import {
  API,
  oidcSettings,
  startTestProvider,
  type TestProvider,
} from '#features/oidc/test/test-provider.ts';
import { eventually } from '#test/support/processes.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { findChromium, sees, startBrowser } from './browser.ts';
import { assertAccessible, buildFiles, openConsole } from './console-page.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

describe('IN-10 logging in to the console at an identity provider', { skip }, () => {
  let provider: TestProvider;
  let api: TestApi;
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    await buildFiles();
    // A name of another site than the console's, so that the browser withholds strict cookies.
    provider = await startTestProvider('localhost');
    const { issuer, secret } = provider;
    const rules = [{ tenantClaim: 'org', scopes: ['read'] }];
    const client = { id: 'console', secret, logout: 'provider' };
    api = await startApi({
      console: { enabled: true },
      oidc: oidcSettings({ name: 'work', issuer, audience: [API], client, rules }),
    });
    await provider.allow(`${api.url}/console/oidc/work/callback`);
    await provider.allow(`${api.url}/`, 'logout');
    await insertTenant(api.pool, 'acme', 'Acme');
    for (const name of ['ann', 'bea']) provider.persons.set(name, { org: 'acme' });
    browser = await startBrowser(chromium);
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
    await provider?.stop();
  });

  /** A page of somebody who has logged in. */
  async function openAs(person: string) {
    const { page, context, complaints } = await openConsole(browser, api.url);
    // The provider's pages use a font of another site.
    const isElsewhere = ({ hostname }: URL): boolean => !['127.0.0.1', 'localhost'].includes(hostname);
    await page.route(isElsewhere, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    await page.getByRole('link', { name: 'Log in with work' }).waitFor();
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Log in with work' }).click();
    await page.getByPlaceholder('Enter any login').fill(person);
    await page.getByPlaceholder('and password').fill('x');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    return { page, context, complaints };
  }

  it('and out at both, so that the next login asks who it is', async () => {
    const { page, complaints } = await openAs('bea');
    const asked = page.waitForRequest(/\/session\/end\?/);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    assert.match((await asked).url(), /[?&]id_token_hint=eyJ/, 'the browser has kept the token');
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('link', { name: 'Log in with work' }).click();
    await page.getByPlaceholder('Enter any login').waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('by its button, through the pages of the provider, and out when the provider knows the person no more', async () => {
    provider.life = 8;
    const { page, context, complaints } = await openAs('ann');
    assert.equal(page.url(), `${api.url}/`);
    assert.equal(await page.evaluate('document.cookie'), '', 'no script reads the cookies');
    const names = (await context.cookies(api.url)).map(({ name, sameSite }) => [name.slice(0, 10), sameSite]);
    assert.deepEqual(names, [['tempoclaw-', 'Strict']], 'the cookie of the login is gone');
    await page.reload();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    provider.persons.delete('ann');
    const status = () => page.evaluate("fetch('v1/me').then(({ status }) => status)");
    assert.ok(await eventually(async () => (await status()) === 401));
    await page.reload();
    await sees(page, /Log in with work/);
    assert.deepEqual(complaints, []);
  });
});
