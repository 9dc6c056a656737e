/** MC-1, SC-2: MCP servers that each user reaches with their own credentials, and logins by OAuth, in a real stack. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEgress } from '#activities/egress/create-egress.ts';
import { createMcpServers } from '../activities/mcp-servers.ts';
import { withoutWall, createBubblewrap } from '@tempoclaw/sandbox';
import { createChangeFeed } from '#store/postgres/change-feed.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findMcpServer } from '../store/mcp-server-store.ts';
import { boxesAt } from '#test/support/container-engine.ts';
import { textsOf } from '#test/support/mcp-client.ts';
import { type LoginServer, startLoginServer } from './mcp-login-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('MC users and logins of MCP servers', () => {
  let stack: Stack;
  let peer: LoginServer;
  let eve: string;
  let adam: string;
  before(async () => {
    peer = await startLoginServer();
    stack = await startStack({
      egress: { allowPrivate: [peer.host] },
      settings: `egress: { allowPrivate: ["${peer.host}"] }`,
    });
    eve = await stack.makeKey(['read', 'run'], { user: 'eve' });
    adam = await stack.makeKey(['read', 'run'], { user: 'adam' });
  });
  after(async () => {
    await stack.stop();
    await peer.close();
  });

  async function ask(
    method: string,
    path: string,
    input: { body?: object; key?: string } = {},
    status = 200,
  ) {
    const answer = await stack.ask(method, `/v1/mcp/servers${path}`, input);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body;
  }

  /** What a user's turn reads from `whoami`. */
  async function whoami(server: string, user?: string): Promise<string> {
    const { turn_id } = await stack.worker.say(
      `s-${Math.random()}`,
      `mcp_${server}__whoami {}`,
      user ? { user } : {},
    );
    await stack.worker.ended(turn_id);
    const [row] = await stack.worker.calls(turn_id);
    return row?.result ?? '';
  }

  /** What the user is told who has no login, before the turn is stopped. */
  async function wantsLogin(server: string, user: string): Promise<string> {
    const session = `s-${Math.random()}`;
    const { turn_id } = await stack.worker.say(session, `mcp_${server}__whoami {}`, { user });
    const id = await stack.worker.approvalOf(session);
    const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
    await stack.ask('POST', `/v1/sessions/${session}/stop`, { body: { level: 'now' } });
    await stack.worker.ended(turn_id);
    return body.form.message;
  }

  const ready = (name: string) =>
    stack.worker.until(
      `${name} to be ready`,
      async () => (await ask('GET', `/${name}`)).status === 'ready' || undefined,
    );

  /** Starts a login and agrees to it; returns the page that the browser comes back to, and the answer to its button. */
  async function login(server: string, person: string, key = stack.key) {
    const started = await ask('POST', `/${server}/oauth/start`, { key, body: {} });
    const back = await peer.agree(started.authorization_url, person);
    return {
      back,
      page: await (await fetch(back)).text(),
      press: () => fetch(back, { method: 'POST', headers: FORM, body: '' }),
    };
  }
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

  const isNowhere = async (values: readonly string[]): Promise<void> => {
    const { rows } = await stack.pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of rows)
      for (const value of values) {
        const found = await stack.pool.query(`select from ${name} t where t::text like $1`, [`%${value}%`]);
        assert.equal(found.rowCount, 0, name);
      }
  };

  it('a call runs with the credentials of its user, and of nobody else', async () => {
    for (const user of ['eve', 'adam']) peer.keys.set(`canary-key-of-${user}`, user);
    await ask('POST', '', { body: { name: 'mine', url: peer.url, credentials: 'per_user' } }, 201);
    const give = (user: string, key: string) =>
      ask('PUT', '/mine/user-credentials', {
        key,
        body: { headers: { Authorization: `Bearer canary-key-of-${user}` } },
      });
    const shown = await give('eve', eve);
    assert.deepEqual(
      [shown.user, shown.header_names, /canary/.test(JSON.stringify(shown))],
      ['eve', ['Authorization'], false],
    );
    await ready('mine');
    assert.match(await whoami('mine', 'eve'), /you are eve/);
    assert.match(
      await wantsLogin('mine', 'adam'),
      /the user adam has no credentials.*mcp login mine, or .*mcp credentials mine FILE/,
    );
    await give('adam', adam);
    const both = await Promise.all([whoami('mine', 'eve'), whoami('mine', 'adam'), whoami('mine', 'eve')]);
    assert.deepEqual(
      both.map((text) => /you are (\w+)/.exec(text)?.[1]),
      ['eve', 'adam', 'eve'],
    );
    assert.match(await whoami('mine'), /used with a user's own credentials, and this turn is nobody's/);
    await isNowhere(['canary-key-of-']);
  });

  it('credentials that are changed or removed hold from the next call on', async () => {
    peer.keys.set('canary-other-key', 'eve-at-work');
    await ask('PUT', '/mine/user-credentials', {
      key: eve,
      body: { headers: { Authorization: 'Bearer canary-other-key' } },
    });
    assert.match(await whoami('mine', 'eve'), /you are eve-at-work/);
    await ask('DELETE', '/mine/user-credentials', { key: eve }, 204);
    assert.match(await wantsLogin('mine', 'eve'), /the user eve has no credentials/);
    assert.match(await whoami('mine', 'adam'), /you are adam/);
  });

  it('a user gives and sees his own alone, and no reference to a secret of the tenant', async () => {
    const path = '/mine/user-credentials';
    await ask('GET', `${path}?user=adam`, { key: eve }, 403);
    await ask('PUT', `${path}?user=adam`, { key: eve, body: { headers: {} } }, 403);
    await ask('DELETE', `${path}?user=adam`, { key: eve }, 403);
    assert.equal((await ask('GET', `${path}?user=adam`)).user, 'adam', 'an admin sees the names');
    await ask('PUT', path, { key: eve, body: { headers: { A: 'secret://tenant_key' } } }, 400);
    await ask('PUT', path, { body: {} }, 422);
    const program = {
      name: 'prog',
      command: 'node',
      args: ['a.js'],
      env: { TOKEN: '' },
      credentials: 'per_user',
    };
    await ask('POST', '', { body: program }, 201);
    const own = (env: object) => ({ key: eve, body: { env } });
    await ask('PUT', '/prog/user-credentials', own({ TOKEN: 'mine' }));
    await ask('PUT', '/prog/user-credentials', own({ PYTHONPATH: '/tmp' }), 422);
    await ask('POST', '/prog/oauth/start', { key: eve, body: {} }, 409);
    await ask('POST', '', { body: { name: 'all', url: peer.url } }, 201);
    await ask('PUT', '/all/user-credentials', { body: {} }, 409);
    await ask('POST', '/all/oauth/start', { key: eve, body: {} }, 403);
  });

  it('what some user has not is not gone for others, and what he has besides waits for consent', async () => {
    peer.tools.push({ name: 'extra', inputSchema: { type: 'object' } });
    await ask('PUT', '/mine/user-credentials', {
      key: eve,
      body: { headers: { Authorization: 'Bearer canary-key-of-eve' } },
    });
    assert.match(await whoami('mine', 'eve'), /you are eve/);
    peer.tools.length = 0;
    await ask('DELETE', '/mine/user-credentials', { key: eve }, 204);
    await ask('PUT', '/mine/user-credentials', {
      key: eve,
      body: { headers: { Authorization: 'Bearer canary-key-of-eve' } },
    });
    assert.match(await whoami('mine', 'eve'), /you are eve/);
    const { tools } = await ask('GET', '/mine');
    assert.deepEqual(
      tools.map(({ name, enabled, gone }: { name: string; enabled: boolean; gone?: true }) => [
        name,
        enabled,
        gone,
      ]),
      [
        ['extra', false, undefined],
        ['whoami', true, undefined],
      ],
    );
  });

  it('an admin logs in for all: the page says what for, and nothing happens before its button', async () => {
    const failed = await ask('POST', '/all/test', { body: {} });
    assert.match(failed.error, /wants a login; begin one with: npx tempoclaw mcp login all/);
    const { page, press } = await login('all', 'service');
    assert.match(page, /Log in at all\?[^]*for all agents of/);
    assert.equal(peer.given.length, 0);
    const done = await press();
    assert.deepEqual([done.status, /Logged in/.test(await done.text())], [200, true]);
    assert.equal((await press()).status, 404, 'a state works once');
    await ready('all');
    assert.match(await whoami('all'), /you are service/);
    await isNowhere(peer.given);
  });

  it('the login is kept to the user who began it, and registers no second time', async () => {
    const registered = () => peer.asked.filter(({ path }) => path === '/register').length;
    await ask('DELETE', '/mine/user-credentials', { key: eve }, 204);
    const first = await login('mine', 'eve-by-oauth', eve);
    assert.match(first.page, /for the user eve of/);
    assert.equal((await first.press()).status, 200);
    assert.match(await whoami('mine', 'eve'), /you are eve-by-oauth/);
    assert.match(await whoami('mine', 'adam'), /you are adam/);
    const before = registered();
    await (await login('mine', 'eve-anew', eve)).press();
    assert.deepEqual(
      [await whoami('mine', 'eve').then((text) => /eve-anew/.test(text)), registered()],
      [true, before],
    );
  });

  it('only the newest login works, and an answer of another issuer or that refuses changes nothing', async () => {
    const old = await login('mine', 'old', eve);
    const newest = await login('mine', 'new', eve);
    assert.equal((await old.press()).status, 404);
    const mixed = new URL(newest.back);
    mixed.searchParams.set('iss', 'https://evil.example/');
    assert.equal((await fetch(mixed, { method: 'POST', headers: FORM, body: '' })).status, 422);
    const refused = new URL(newest.back);
    refused.searchParams.set('error', 'access_denied');
    assert.equal((await fetch(refused)).status, 422);
    assert.match(await whoami('mine', 'eve'), /you are eve-anew/);
  });

  it('tokens that have ended are refreshed once, however many calls find them ended', async () => {
    peer.asked.length = 0;
    peer.expireAll();
    const calls = await Promise.all(Array.from({ length: 4 }, () => whoami('all')));
    for (const text of calls) assert.match(text, /you are service/);
    const grants = peer.asked.map(({ form }) => form.get('grant_type'));
    assert.deepEqual(grants, ['refresh_token']);
    await isNowhere(peer.given);
    const { rows } = await stack.pool.query(`select host from egress_requests where purpose = 'mcp_oauth'`);
    assert.ok(rows.length > 0, 'all of it went through the door');
  });

  it('tokens that two workers find ended at once are refreshed by one of them', async () => {
    const databaseUrl = String(stack.pool.options.connectionString);
    const rulesOf = async () => ({ internalHosts: [new URL(peer.url).host] });
    const changes = createChangeFeed({ databaseUrl, pool: stack.pool, onError: () => undefined });
    const workers = ['one', 'two'].map((worker) =>
      createMcpServers({
        pool: stack.pool,
        changes,
        onError: () => undefined,
        egress: createEgress({ resolve: async () => [], record: async () => undefined }),
        rulesOf,
        sealer: stack.deps.secrets.sealer,
        resolve: async (_tenant, text) => text,
        wall: withoutWall(),
        folders: join(tmpdir(), 'tempoclaw-test-mcp-servers'),
        boxing: { boxes: boxesAt('unix:///nonesuch'), bubblewrap: createBubblewrap([]), sandbox: {} },
        environment: {},
        worker,
      }),
    );
    try {
      const row = await findMcpServer(forTenant(stack.pool, stack.tenant), 'all');
      assert.ok(row);
      const server = { ...row, tenant: stack.tenant };
      const ask = (): Promise<string[]> =>
        Promise.all(
          workers.map((worker) =>
            worker.use(server, null, async ({ client }) =>
              textsOf(await client.callTool({ name: 'whoami', arguments: {} })).join(),
            ),
          ),
        );
      // Both have a connection, and the token in memory.
      await ask();
      peer.asked.length = 0;
      peer.expireAll();
      for (const text of await ask()) assert.match(text, /you are service/);
      // A third one, whose token has expired as well, uses the new one.
      assert.match(await whoami('all'), /you are service/);
      assert.deepEqual(
        peer.asked.map(({ form }) => form.get('grant_type')),
        ['refresh_token'],
      );
    } finally {
      await Promise.all(workers.map((worker) => worker.close()));
      await changes.close();
    }
  });

  it('credentials do not go with a server to another address', async () => {
    assert.equal((await ask('GET', '/mine/user-credentials?user=adam')).user, 'adam');
    await ask('PATCH', '/mine', { body: { timeout_sec: 30 } });
    await ask('GET', '/mine/user-credentials?user=adam');
    await ask('PATCH', '/mine', { body: { url: `${peer.url}?elsewhere` } });
    await ask('GET', '/mine/user-credentials?user=adam', {}, 404);
    assert.match(await wantsLogin('mine', 'adam'), /the user adam has no credentials/);
  });

  it('a login that was revoked says so, and what to do, and the server’s words are not repeated', async () => {
    peer.revokeAll();
    const text = await whoami('all');
    assert.match(text, /ExecutionFailed[^]*begin one with: npx tempoclaw mcp login all/);
    assert.doesNotMatch(text, /refresh_token=/);
    await (await login('all', 'service-again')).press();
    await stack.worker.until(
      'the new login',
      async () => /service-again/.test(await whoami('all')) || undefined,
    );
  });
});
