/** IN-10: people log in to the console at an identity provider, and what they may do ends with what it says. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertTenant } from '#store/api-key-store.ts';
import { eventually } from '#test/support/processes.ts';
import { type Answer, startApi, type TestApi } from '#test/support/stack.ts';
import { API, oidcSettings, openLoginPages, startTestProvider, type TestProvider } from './test-provider.ts';

describe('IN-10 logins to the console', () => {
  let provider: TestProvider;
  let api: TestApi;
  before(async () => {
    provider = await startTestProvider();
    api = await startApi({
      console: { enabled: true },
      settings: { trustedProxies: ['127.0.0.1'] },
      oidc: oidcSettings({
        name: 'work',
        issuer: provider.issuer,
        audience: [API],
        client: { id: 'console', secret: provider.secret },
        rules: [{ tenantClaim: 'org', scopes: ['read', 'approve'] }],
      }),
    });
    await provider.allow(`${api.url}/console/oidc/work/callback`);
    await insertTenant(api.pool, 'acme', 'Acme');
    for (const name of ['ann', 'bea', 'cyd', 'eve'])
      provider.persons.set(name, { org: 'acme', groups: ['finance'] });
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  let addresses = 0;
  const get = (path: string, cookies = ''): Promise<Answer & { location: string; cookies: string }> =>
    visit(new URL(path, api.url).href, cookies);
  async function visit(url: string, cookies: string) {
    addresses += 1;
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: cookies, 'x-forwarded-for': `10.1.0.${addresses}`, 'sec-fetch-site': 'cross-site' },
    });
    const { status, headers } = response;
    const set = headers.getSetCookie().map((one) => one.split(';')[0]);
    return {
      status,
      headers,
      body: await response.text(),
      location: headers.get('location') ?? '',
      cookies: set.join('; '),
    };
  }
  const session = (cookies: string) => api.ask('GET', '/v1/me', { key: null, headers: { cookie: cookies } });
  /** Begins a login, and goes through the provider's pages until it sends the browser back. */
  async function logInAs(person: string) {
    const started = await get('/console/oidc/work');
    assert.equal(started.status, 303, started.body);
    return { started, back: await openLoginPages().logIn(started.location, person) };
  }
  async function finished(person: string): Promise<string> {
    const { started, back } = await logInAs(person);
    const done = await visit(back, started.cookies);
    assert.equal(done.status, 303, done.body);
    assert.equal(done.location, '/');
    return done.cookies;
  }
  async function refused(back: string, cookies: string, why: RegExp): Promise<void> {
    const { status, body, headers } = await visit(back, cookies);
    assert.equal(status, 401, body);
    assert.match(body, why);
    assert.match(headers.getSetCookie().join(), /tempoclaw-login=;.*Max-Age=0/);
    assert.ok(!headers.getSetCookie().some((one) => /^tempoclaw-[0-9a-f]{8}=/.test(one)));
  }

  it('the login page names the provider, whose code becomes a session of the person', async () => {
    const { body } = await api.ask('GET', '/console/logins', { key: null });
    assert.deepEqual(body, { logins: [{ name: 'work', path: 'console/oidc/work' }] });
    const cookies = await finished('ann');
    const me = await session(cookies);
    assert.deepEqual([me.body.tenant, me.body.user, me.body.scopes], ['acme', 'ann', ['read', 'approve']]);
    assert.equal(me.body.key.name, `oidc:${provider.issuer}#ann`);
    const { rows } = await api.pool.query('select * from oidc_refreshes');
    assert.equal(rows.length, 1);
    assert.ok(!/^[\w-]{43}$/.test(rows[0].sealed), 'sealed');
  });

  it('asks with PKCE, a state, a nonce and the exact address, and differently each time', async () => {
    const [first, second] = [await get('/console/oidc/work'), await get('/console/oidc/work')];
    const [one, two] = [first, second].map(({ location }) => new URL(location).searchParams);
    assert.equal(one?.get('redirect_uri'), `${api.url}/console/oidc/work/callback`);
    assert.equal(one?.get('code_challenge_method'), 'S256');
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.match(one?.get(name) ?? '', /^[\w-]{43}$/);
      assert.notEqual(one?.get(name), two?.get(name));
    }
    assert.match(
      first.headers.getSetCookie()[0] ?? '',
      /^tempoclaw-login=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    assert.ok(!first.cookies.includes(one?.get('state') ?? ''), 'the cookie shows nothing');
    assert.equal((await get('/console/oidc/nobody')).status, 404);
  });

  it('a code ends in the browser in which the login began, with its state, and once', async () => {
    const { started, back } = await logInAs('bea');
    const other = await get('/console/oidc/work');
    await refused(back, '', /did not begin in this browser/);
    await refused(back, other.cookies, /did not begin in this browser/);
    await refused(back, `tempoclaw-login=${'A'.repeat(300)}`, /did not begin in this browser/);
    const changed = new URL(back);
    changed.searchParams.set('iss', 'https://other.example');
    await refused(changed.href, started.cookies, /another provider/);
    assert.equal((await visit(back, started.cookies)).status, 303);
    await refused(back, started.cookies, /invalid_grant/);
  });

  it('a code of another login is refused, because the verifier is another', async () => {
    const [mine, theirs] = [await logInAs('bea'), await logInAs('eve')];
    const mixed = new URL(mine.back);
    mixed.searchParams.set('code', new URL(theirs.back).searchParams.get('code') ?? '');
    await refused(mixed.href, mine.started.cookies, /invalid_grant/);
  });

  it('a login that is aborted, or of somebody who means nobody here, says so', async () => {
    const started = await get('/console/oidc/work');
    const state = new URL(started.location).searchParams.get('state') ?? '';
    const back = `${api.url}/console/oidc/work/callback?error=access_denied&state=${state}`;
    await refused(back, started.cookies, /access_denied/);
    provider.persons.set('mal', { org: 'default' });
    const { started: other, back: found } = await logInAs('mal');
    const { status, body } = await visit(found, other.cookies);
    assert.equal(status, 403);
    assert.match(body, /gives access to nothing/);
  });

  it('a session goes on by the refresh token while the provider knows the person, and ends when not', async () => {
    provider.life = 6;
    try {
      const cookies = await finished('cyd');
      const expiry = async () => {
        const { rows } = await api.pool.query("select expires_at from api_keys where user_id = 'cyd'");
        return rows[0].expires_at.getTime();
      };
      const first = await expiry();
      provider.persons.set('cyd', { org: 'acme', groups: ['sales'] });
      assert.ok(await eventually(async () => (await expiry()) !== first));
      assert.equal((await session(cookies)).status, 200);
      const { rows } = await api.pool.query("select groups from api_keys where user_id = 'cyd'");
      assert.deepEqual(rows[0].groups, ['sales'], 'as the provider says now');
      provider.persons.delete('cyd');
      assert.ok(await eventually(async () => (await session(cookies)).status === 401));
      const left = await api.pool.query(
        "select from oidc_refreshes r join api_keys k on k.id = r.person_id where user_id = 'cyd'",
      );
      assert.equal(left.rows.length, 0);
    } finally {
      provider.life = 300;
    }
  });

  it('a provider that is away for a moment ends no session', async () => {
    const cookies = await finished('bea');
    const read = async (what: string) => {
      const { rows } = await api.pool.query(
        `select ${what} as value from oidc_refreshes r join api_keys k on k.id = r.person_id where user_id = 'bea'`,
      );
      return rows[0]?.value;
    };
    const before = await read('k.expires_at::text');
    provider.isAway = true;
    await api.pool.query('update oidc_refreshes set due_at = now()');
    const isReleased = (): Promise<boolean> => read("held_until < now() + interval '10 seconds'");
    assert.ok(await eventually(isReleased));
    provider.isAway = false;
    assert.ok(await eventually(async () => (await read('k.expires_at::text')) !== before));
    assert.equal((await session(cookies)).status, 200);
  });

  it('a session has the rights of a browser: it makes no links, and a logout ends it', async () => {
    const cookies = await finished('eve');
    const opened = await api.ask('POST', '/console/session', {
      key: null,
      headers: { cookie: cookies, origin: api.url },
    });
    const headers = { cookie: cookies, origin: api.url, 'x-csrf-token': opened.body.csrf_token };
    assert.equal((await api.ask('POST', '/v1/console/links', { key: null, headers })).status, 403);
    assert.equal((await api.ask('POST', '/console/logout', { key: null, headers })).status, 204);
    assert.equal((await session(cookies)).status, 401);
  });

  it('a provider that is away is named on the page, and logins by key work', async () => {
    const { started, back } = await logInAs('eve');
    provider.isAway = true;
    try {
      const { status, body } = await visit(back, started.cookies);
      assert.equal(status, 503);
      assert.match(body, /provider work cannot be asked/);
      const login = await api.ask('POST', '/console/login', {
        key: null,
        body: { key: api.key },
        headers: { origin: api.url },
      });
      assert.equal(login.status, 200);
    } finally {
      provider.isAway = false;
    }
  });
});
