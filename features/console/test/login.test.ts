/** IN-7: browsers log in with a key or a link, have the rights of the key, and lose them with it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSse } from '#test/support/sse.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { loggedIn, openBrowserClient } from './browser-client.ts';

describe('IN-7 sessions of browsers', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ console: { enabled: true } });
  });
  after(() => api.stop());

  const linkOf = async (key = api.key): Promise<string> => {
    const made = await api.ask('POST', '/v1/console/links', { key });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return new URL(made.body.url).hash.slice(1);
  };
  const update = (sql: string) => api.pool.query(`update console_sessions set ${sql}`);

  it('a key is exchanged for a cookie that scripts cannot read, and neither is in a row', async () => {
    const browser = await loggedIn(api, api.key);
    assert.match(
      browser.setCookie(),
      /^tempoclaw-[0-9a-f]{8}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=/,
    );
    const me = await browser.ask('GET', '/v1/me');
    assert.deepEqual(me.body, (await api.ask('GET', '/v1/me')).body);
    assert.equal(me.body.tenant, api.tenant);
    const { rows } = await api.pool.query('select * from console_sessions');
    const stored = JSON.stringify(rows);
    for (const secret of [api.key, browser.cookie().split('=')[1] ?? '', browser.csrf()])
      assert.ok(secret.length > 20 && !stored.includes(secret));
  });

  it('has the rights of the key and no others', async () => {
    const reader = await loggedIn(api, await api.makeKey(['read'], { user: 'ann' }));
    const { body } = await reader.ask('GET', '/v1/me');
    assert.deepEqual([body.user, body.scopes], ['ann', ['read']]);
    assert.equal((await reader.ask('GET', '/v1/api-keys')).status, 403);
    assert.equal((await reader.ask('POST', '/v1/sessions/s/messages', { body: { text: 'x' } })).status, 403);
    await api.pool.query(
      "insert into sessions (tenant_id, key, agent_key, user_id) values ($1, 'of-ben', 'main', 'ben')",
      [api.tenant],
    );
    assert.equal((await reader.ask('GET', '/v1/sessions/of-ben')).status, 404);
    const blind = await openBrowserClient(api).login({ key: await api.makeKey(['run']) });
    assert.equal(blind.status, 403);
  });

  it('another tenant’s session reaches nothing of this one, and its id is no token', async () => {
    const other = await api.makeTenant();
    const theirs = await loggedIn(api, other.key);
    const ours = await loggedIn(api, api.key);
    assert.equal((await theirs.ask('GET', '/v1/me')).body.tenant, other.tenant);
    const { rows } = await api.pool.query('select id from console_sessions where tenant_id = $1', [
      api.tenant,
    ]);
    const [name = ''] = theirs.cookie().split('=');
    const forged = await theirs.ask('GET', '/v1/me', { headers: { cookie: `${name}=${rows[0].id}` } });
    assert.equal(forged.status, 401);
    const headers = { cookie: ours.cookie(), 'x-csrf-token': theirs.csrf() };
    assert.equal((await theirs.ask('POST', '/v1/agents', { body: {}, headers })).status, 403);
  });

  it('a link works once, also when two browsers open it at the same time, and a second use says so', async () => {
    const link = await linkOf();
    const [first, second] = [openBrowserClient(api), openBrowserClient(api)];
    const answers = await Promise.all([first.login({ link }), second.login({ link })]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
    assert.match(answers.find(({ status }) => status === 401)?.body.detail, /used before/);
    assert.match((await openBrowserClient(api).login({ link })).body.detail, /used before/);
    const { rows } = await api.pool.query('select * from console_links');
    assert.ok(!JSON.stringify(rows).includes(link));
  });

  it('a link ends with its ten minutes and with its key, and a session makes none', async () => {
    const late = await linkOf();
    await api.pool.query('update console_links set expires_at = now() where used_at is null');
    assert.match((await openBrowserClient(api).login({ link: late })).body.detail, /has ended/);
    const made = await api.ask('POST', '/v1/api-keys', { body: { name: 'gone', scopes: ['read'] } });
    const link = await linkOf(made.body.secret);
    await api.ask('DELETE', `/v1/api-keys/${made.body.id}`);
    assert.equal((await openBrowserClient(api).login({ link })).status, 401);
    const browser = await loggedIn(api, api.key);
    assert.equal((await browser.ask('POST', '/v1/console/links')).status, 403);
  });

  it('a key has a limited number of open links', async () => {
    const key = await api.makeKey(['read']);
    for (let at = 0; at < 20; at += 1) await linkOf(key);
    assert.equal((await api.ask('POST', '/v1/console/links', { key })).status, 409);
  });

  it('changes need the session’s token and come from its own page', async () => {
    const browser = await loggedIn(api, api.key);
    const agent = { key: 'csrf', type: 'open', model: 'rehearsal/echo' };
    const make = (headers: Record<string, string>) =>
      browser.ask('POST', '/v1/agents', { body: agent, headers });
    const other = await loggedIn(api, api.key);
    for (const token of ['', 'x', other.csrf()])
      assert.equal((await make({ 'x-csrf-token': token })).status, 403, token);
    assert.equal((await make({ origin: 'https://evil.example' })).status, 403);
    // A page on another port of this host: its browser adds the cookie.
    assert.equal((await make({ 'sec-fetch-site': 'same-site' })).status, 401);
    assert.equal(
      (await browser.ask('POST', '/console/logout', { headers: { 'x-csrf-token': '' } })).status,
      403,
    );
    const foreign = await openBrowserClient(api).login({ key: api.key }, { origin: 'https://evil.example' });
    assert.equal(foreign.status, 403);
    assert.equal(foreign.headers.get('set-cookie'), null);
    assert.equal((await api.ask('GET', '/v1/agents/csrf')).status, 404);
    assert.equal((await make({})).status, 201);
  });

  it('a key that is sent decides alone, whatever the cookie', async () => {
    const browser = await loggedIn(api, api.key);
    const reader = await api.makeKey(['read']);
    const as = (key: string) =>
      browser.ask('GET', '/v1/api-keys', { headers: { authorization: `Bearer ${key}` } });
    assert.equal((await as(reader)).status, 403);
    assert.equal((await as(`tc_${'A'.repeat(43)}`)).status, 401);
    assert.equal((await browser.ask('GET', '/v1/api-keys')).status, 200);
  });

  it('a login takes over no token that the browser had, and ends its former session', async () => {
    const browser = openBrowserClient(api);
    const [name] = (await loggedIn(api, api.key)).cookie().split('=');
    const planted = `${name}=${'A'.repeat(43)}`;
    await browser.login({ key: api.key }, { cookie: planted });
    assert.notEqual(browser.cookie(), planted);
    assert.equal((await browser.ask('GET', '/v1/me', { headers: { cookie: planted } })).status, 401);
    const before = browser.cookie();
    await browser.login({ key: api.key });
    assert.equal((await browser.ask('GET', '/v1/me', { headers: { cookie: before } })).status, 401);
    assert.equal((await browser.ask('GET', '/v1/me')).status, 200);
  });

  it('the end of its key ends a session with its streams, and a logout ends one session', async () => {
    const made = await api.ask('POST', '/v1/api-keys', { body: { name: 'short', scopes: ['read'] } });
    const [browser, second] = [await loggedIn(api, made.body.secret), await loggedIn(api, made.body.secret)];
    const streams = await Promise.all(
      [browser, second].map((one) => openSse(`${api.url}/v1/approvals/events`, { cookie: one.cookie() })),
    );
    assert.deepEqual(
      streams.map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await browser.ask('POST', '/console/logout')).status, 204);
    assert.match(browser.setCookie(), /=; .*Max-Age=0/);
    assert.deepEqual(await streams[0]?.until(() => false), []);
    assert.equal((await browser.resume()).status, 401);
    assert.equal((await second.ask('GET', '/v1/me')).status, 200);
    await api.pool.query('update api_keys set revoked_at = now() where id = $1', [made.body.id]);
    assert.equal((await second.ask('GET', '/v1/me')).status, 401);
    assert.deepEqual(await streams[1]?.until(() => false), []);
  });

  it('ends when it was not used for long, and at its greatest age', async () => {
    for (const sql of ["used_at = now() - interval '12 hours'", 'expires_at = now()']) {
      const browser = await loggedIn(api, api.key);
      await update(sql);
      assert.equal((await browser.ask('GET', '/v1/me')).status, 401, sql);
      assert.equal((await browser.resume()).status, 401, sql);
    }
  });

  it('gets new tokens; a lost answer costs nothing, and a copied token ends the session', async () => {
    const browser = await loggedIn(api, api.key);
    const first = browser.cookie();
    const asFirst = () => browser.ask('GET', '/v1/me', { headers: { cookie: first } });
    await browser.resume();
    assert.equal(browser.cookie(), first, 'not within a minute');
    await update("rotated_at = now() - interval '2 minutes'");
    await browser.resume();
    assert.notEqual(browser.cookie(), first);
    // The browser has never seen the answer.
    assert.equal((await asFirst()).status, 200);
    await update("rotated_at = now() - interval '2 minutes'");
    await browser.ask('POST', '/console/session', { headers: { cookie: first } });
    assert.equal((await browser.ask('GET', '/v1/me')).status, 200);
    assert.equal((await asFirst()).status, 200, 'a request that was under way');
    await update('previous_until = now() where previous_until is not null');
    assert.equal((await asFirst()).status, 401);
    assert.equal((await browser.ask('GET', '/v1/me')).status, 401);
  });

  it('whoever tries keys and links must wait, ever longer', async () => {
    const other = await startApi({ console: { enabled: true } });
    try {
      const statuses: number[] = [];
      for (let at = 0; at < 30; at += 1) {
        const body = at % 2 ? { key: `tc_${String(at).padStart(43, 'A')}` } : { link: `wrong-${at}` };
        statuses.push((await openBrowserClient(other).login(body)).status);
      }
      assert.deepEqual([...new Set(statuses.slice(0, 20))], [401]);
      assert.deepEqual([...new Set(statuses.slice(20))], [429]);
      assert.equal((await openBrowserClient(other).login({ key: other.key })).status, 200);
    } finally {
      await other.stop();
    }
  });

  it('over TLS the cookie is for this host alone; turned off, there is no login', async () => {
    const tls = await startApi({
      console: { enabled: true },
      settings: { publicUrl: 'https://agents.example.com/base' },
    });
    try {
      const browser = await loggedIn(tls, tls.key);
      assert.match(
        browser.setCookie(),
        /^__Host-tempoclaw-\w+=.*; Path=\/; HttpOnly; SameSite=Strict; Secure;/,
      );
      const { body } = await tls.ask('POST', '/v1/console/links');
      assert.match(body.url, /^https:\/\/agents\.example\.com\/base\/login#[\w-]{22}$/);
    } finally {
      await tls.stop();
    }
    const off = await startApi();
    try {
      assert.equal((await off.ask('POST', '/v1/console/links')).status, 422);
      assert.equal((await openBrowserClient(off).login({ key: off.key })).status, 401);
    } finally {
      await off.stop();
    }
  });
});
