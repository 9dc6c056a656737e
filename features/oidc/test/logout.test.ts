/** IN-10: who logs out of the console may be logged out at the identity provider too. */
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { Failure } from '#domain/errors.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';
import { sealIdToken } from '../logout.ts';
import {
  API,
  type LoginPages,
  oidcSettings,
  openLoginPages,
  startTestProvider,
  type TestProvider,
} from './test-provider.ts';

describe('IN-10 logouts at an identity provider', () => {
  let provider: TestProvider;
  let api: TestApi;
  before(async () => {
    provider = await startTestProvider();
    api = await startApi({
      console: { enabled: true },
      oidc: oidcSettings({
        name: 'work',
        issuer: provider.issuer,
        audience: [API],
        client: { id: 'console', secret: provider.secret, logout: 'provider' },
        rules: [{ tenantClaim: 'org', scopes: ['read'] }],
      }),
    });
    await provider.allow(`${api.url}/console/oidc/work/callback`);
    await provider.allow(`${api.url}/`, 'logout');
    await insertTenant(api.pool, 'acme', 'Acme');
    for (const name of ['ann', 'bea']) provider.persons.set(name, { org: 'acme' });
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  /** The cookies of a browser that is logged in. */
  async function logIn(pages: LoginPages, person: string): Promise<string> {
    const started = await visit('/console/oidc/work', '');
    const back = await pages.logIn(started.location, person);
    const { status, cookies } = await visit(back, started.cookies);
    assert.equal(status, 303);
    return cookies;
  }
  async function visit(path: string, cookie: string) {
    const { status, headers } = await fetch(new URL(path, api.url), {
      redirect: 'manual',
      headers: { cookie },
    });
    const cookies = headers.getSetCookie().map((one) => one.split(';')[0]);
    return { status, location: headers.get('location') ?? '', cookies: cookies.join('; ') };
  }
  async function logOut(cookie: string): Promise<Answer> {
    const headers = { cookie, origin: api.url };
    const { body } = await api.ask('POST', '/console/session', { key: null, headers });
    const csrf = { 'x-csrf-token': body.csrf_token };
    const answer = await api.ask('POST', '/console/logout', { key: null, headers: { ...headers, ...csrf } });
    assert.equal((await api.ask('GET', '/v1/me', { key: null, headers: { cookie } })).status, 401);
    return answer;
  }

  it('end the session at both, and send the browser back', async () => {
    const pages = openLoginPages();
    await logIn(pages, 'ann');
    pages.prompts.length = 0;
    const cookies = await logIn(pages, 'ann');
    assert.deepEqual(pages.prompts, [], 'the provider still knows the person');
    const { status, body, headers } = await logOut(cookies);
    assert.equal(status, 200);
    assert.match(headers.getSetCookie().join(), /tempoclaw-oidc=;[^,]*Max-Age=0/);
    const { origin, searchParams } = new URL(body.location);
    assert.equal(origin, provider.issuer);
    assert.equal(searchParams.get('client_id'), 'console');
    assert.match(searchParams.get('id_token_hint') ?? '', /^[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.equal(await pages.logOut(body.location), `${api.url}/`);
    await logIn(pages, 'ann');
    assert.equal(pages.prompts[0], 'login', 'the provider asks who it is');
  });

  it('keep the token sealed in a cookie of these pages, and use no other person’s', async () => {
    const [hers, theirs] = [await logIn(openLoginPages(), 'ann'), await logIn(openLoginPages(), 'bea')];
    const tokenOf = (cookies: string) => /tempoclaw-oidc=([\w-]+)/.exec(cookies)?.[1] ?? assert.fail(cookies);
    assert.doesNotMatch(Buffer.from(tokenOf(hers), 'base64url').toString('latin1'), /eyJ|console/);
    const { body } = await logOut(hers.replace(tokenOf(hers), tokenOf(theirs)));
    const { searchParams } = new URL(body.location);
    assert.deepEqual([searchParams.get('id_token_hint'), searchParams.get('client_id')], [null, 'console']);
    const { sealer } = api.deps.secrets;
    assert.equal(sealIdToken(sealer, 'oidc_1', 'x'.repeat(5_000)), undefined);
  });

  it('end the session here also while the provider is away', async () => {
    const cookies = await logIn(openLoginPages(), 'bea');
    const asked = api.deps.oidcLogins?.[0]?.provider ?? assert.fail();
    // Its document would be known for an hour.
    const away = mock.method(asked, 'readDocument', async () => {
      throw new Failure('Unavailable', 'The provider is away');
    });
    try {
      assert.equal((await logOut(cookies)).status, 204);
      assert.equal(away.mock.callCount(), 1);
    } finally {
      away.mock.restore();
    }
  });

  it('are none for a browser that a key logged in', async () => {
    const login = await fetch(`${api.url}/console/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: api.url },
      body: JSON.stringify({ key: api.key }),
    });
    const cookies = login.headers.getSetCookie().map((one) => one.split(';')[0]);
    assert.equal((await logOut(cookies.join('; '))).status, 204);
  });
});
