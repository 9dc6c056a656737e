import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAuthenticator } from '#api/server/auth.ts';
import { rawAsk } from '#test/support/raw-ask.ts';
import { openSse } from '#test/support/sse.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';

describe('IN-1 who may call', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({
      settings: {
        publicUrl: 'https://agents.example.com/base',
        allowedHosts: ['agents.internal'],
        corsOrigins: ['https://console.example.com'],
      },
    });
  });
  after(() => api.stop());

  /** Uses a socket, with headers that `fetch` would not send. */
  const knock = async (method: string, path: string, headers: Record<string, string>): Promise<number> => {
    const input = { 'content-type': 'application/json', authorization: `Bearer ${api.key}`, ...headers };
    return (await rawAsk(api.url + path, method, input, method === 'GET' ? '' : '{}')).status;
  };

  it('R3 answers by its own names only, so that no page can have another name point here', async () => {
    const port = new URL(api.url).port;
    const own = [
      'localhost',
      `LocalHost.:${port}`,
      'app.localhost:1',
      `127.0.0.1:${port}`,
      '[::1]',
      '10.0.0.7:80',
    ];
    for (const host of [...own, 'agents.internal:8080', 'Agents.Example.com'])
      assert.equal(await knock('GET', '/v1/sessions', { host }), 200, host);
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ];
    for (const host of [...foreign, 'xagents.internal', 'a@localhost', '127.0.0.1:80:80'])
      for (const path of ['/v1/sessions', '/readyz', '/docs/', '/nothing'])
        assert.equal(await knock('GET', path, { host }), 421, `${host} ${path}`);
    const notice = JSON.parse((await rawAsk(`${api.url}/readyz`, 'GET', { host: 'evil.example' })).text);
    assert.equal(notice.code, 'Misdirected');
    assert.match(notice.detail, /"evil.example"; add it to api.allowedHosts/);
  });

  it('R3 lets pages of other origins change nothing', async () => {
    const post = (origin: string, more = {}) => knock('POST', '/v1/sessions/none/stop', { origin, ...more });
    for (const origin of [api.url, 'https://agents.example.com', 'https://console.example.com'])
      assert.equal(await post(origin), 404, origin);
    const { port } = new URL(api.url);
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${Number(port) + 1}`, ''])
      assert.equal(await post(origin), 403, origin);
    assert.equal(await knock('GET', '/v1/sessions', { origin: 'https://evil.example' }), 200);
  });

  it('tells who tries keys to wait, ever longer, and lets right keys from the same address in', async () => {
    const other = await startApi();
    try {
      const waits: number[] = [];
      for (let at = 0; at < 60; at += 1) {
        const key = `tc_${String(at).padStart(43, 'A')}`;
        const { status, headers, body } = await other.ask('GET', '/v1/sessions', { key });
        if (status !== 429) assert.ok(status === 401 && waits.length === 0, `try ${at}: ${status}`);
        else waits.push(Number(headers.get('retry-after')));
        if (status === 429) assert.equal(body.code, 'RateLimited');
      }
      assert.equal(waits.length, 40);
      assert.deepEqual([waits[0], waits[1], waits.at(-1)], [60, 120, 3_600]);
      const cold = await other.makeKey(['read']);
      assert.equal((await other.ask('GET', '/v1/sessions', { key: cold })).status, 200);
      assert.equal((await other.ask('GET', '/v1/sessions', { key: null })).status, 401);
    } finally {
      await other.stop();
    }
  });

  it('refuses every way to come without a good key, with one shape of answer', async () => {
    const expired = await api.makeKey(['admin'], { expiresAt: '2020-01-01T00:00:00Z' });
    const ways: Record<string, string>[] = [
      {},
      { authorization: 'Bearer ' },
      { authorization: 'Bearer wrong' },
      { authorization: `Basic ${api.key}` },
      { authorization: api.key },
      { authorization: `Bearer ${api.key} x` },
      { authorization: `Bearer tc_${'A'.repeat(43)}` },
      { authorization: `Bearer ${expired}` },
      { cookie: `token=${api.key}` },
      { 'x-api-key': api.key },
    ];
    for (const headers of ways) {
      const { status, body, headers: input } = await api.ask('GET', '/v1/sessions', { key: null, headers });
      assert.equal(status, 401, JSON.stringify(headers));
      assert.equal(body.code, 'Unauthorized');
      assert.match(input.get('www-authenticate') ?? '', /^Bearer/);
      assert.deepEqual(Object.keys(body).sort(), SHAPE);
    }
    const query = await api.ask('GET', `/v1/sessions?token=${api.key}`, { key: null });
    assert.equal(query.status, 401);
  });

  it('leads a browser from / to docs, approvals and the Temporal UI, and tells a program the same', async () => {
    const { status, body } = await api.ask('GET', '/', { key: null });
    assert.equal(status, 200);
    assert.equal(body.name, 'tempoclaw');
    assert.equal(body.docs, 'https://agents.example.com/base/docs');
    assert.equal(body.temporal_ui, 'http://ui.test:8233');
    assert.match(
      body.approvals,
      /^http:\/\/ui\.test:8233\/namespaces\/[^/]+\/workflows\?query=WorkflowType%3D'approval'/,
    );
    const page = await fetch(new URL('/', api.url), {
      headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
    });
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    const html = await page.text();
    for (const address of [body.docs, body.temporal_ui, body.openapi])
      assert.ok(html.includes(`href="${address}"`), address);
    assert.doesNotMatch(html, /<script/);
  });

  it('needs a key on every route but health, the first page, the document and its page', async () => {
    const document = (await api.ask('GET', '/openapi.json', { key: null })).body;
    const open: string[] = [];
    for (const [path, methods] of Object.entries<Record<string, unknown>>(document.paths)) {
      for (const method of Object.keys(methods)) {
        const url = path.replace(/\{\w+\}/g, 'x');
        const { status } = await api.ask(method.toUpperCase(), url, { key: null });
        if (status !== 401) open.push(path);
      }
    }
    // Access to the codec is a secret part of its address, because the Temporal web UI can send no key.
    const known = [
      '/',
      '/codec/{token}/decode',
      '/codec/{token}/encode',
      '/healthz',
      '/readyz',
      '/v1/nodes/join',
    ];
    assert.deepEqual(open.sort(), known);
    for (const path of [
      '/v1/%73essions',
      '/V1/SESSIONS',
      '//v1/sessions',
      '/v1/sessions/',
      '/v1/webhooks',
      '/v1/../v1/sessions',
    ])
      assert.ok([401, 404].includes((await api.ask('GET', path, { key: null })).status), path);
  });

  it('holds each key to its scopes; admin has them all', async () => {
    const reader = await api.makeKey(['read']);
    assert.equal((await api.ask('GET', '/v1/sessions', { key: reader })).status, 200);
    const denied = await api.ask('POST', '/v1/sessions/s/messages', { key: reader, body: { text: 'x' } });
    assert.equal(denied.status, 403);
    assert.equal(denied.body.scope, 'run');
    assert.equal((await api.ask('POST', '/v1/agents', { key: reader, body: {} })).status, 403);
    assert.equal((await api.ask('GET', '/v1/api-keys', { key: reader })).status, 403);
    const runner = await api.makeKey(['run']);
    assert.equal((await api.ask('GET', '/v1/sessions', { key: runner })).status, 403);
  });

  it('makes keys whose secret is shown once and kept only as a hash', async () => {
    const made = await api.ask('POST', '/v1/api-keys', {
      body: { name: 'ci', scopes: ['read'], user: 'bot' },
      headers: { 'idempotency-key': 'make-ci' },
    });
    assert.equal(made.status, 201);
    assert.match(made.body.secret, /^tc_[0-9A-Za-z]{43}$/);
    assert.equal((await api.ask('GET', '/v1/sessions', { key: made.body.secret })).status, 200);
    const repeated = await api.ask('POST', '/v1/api-keys', {
      body: { name: 'ci', scopes: ['read'], user: 'bot' },
      headers: { 'idempotency-key': 'make-ci' },
    });
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    assert.equal(repeated.body.id, made.body.id);
    assert.equal(repeated.body.secret, null);
    const listed = await api.ask('GET', '/v1/api-keys');
    assert.ok(listed.body.data.every((key: object) => !('secret' in key) && !('hash' in key)));
    for (const table of ['api_keys', 'idempotency_keys']) {
      const { rows } = await api.pool.query(`select * from ${table}`);
      assert.ok(!JSON.stringify(rows).includes(made.body.secret.slice(3)), table);
    }
  });

  it('refuses a revoked key at once in this process', async () => {
    const made = await api.ask('POST', '/v1/api-keys', { body: { name: 'gone', scopes: ['read'] } });
    assert.equal((await api.ask('GET', '/v1/sessions', { key: made.body.secret })).status, 200);
    assert.equal((await api.ask('DELETE', `/v1/api-keys/${made.body.id}`)).status, 204);
    assert.equal((await api.ask('GET', '/v1/sessions', { key: made.body.secret })).status, 401);
    assert.equal((await api.ask('DELETE', '/v1/api-keys/key_unknown')).status, 404);
  });

  it('R8 ends the streams of a key that was revoked elsewhere', async () => {
    const made = await api.ask('POST', '/v1/api-keys', { body: { name: 'streams', scopes: ['read'] } });
    const { secret, id } = made.body;
    const reader = await openSse(`${api.url}/v1/approvals/events`, { authorization: `Bearer ${secret}` });
    assert.equal(reader.status, 200);
    await api.pool.query('update api_keys set revoked_at = now() where id = $1', [id]);
    assert.deepEqual(await reader.until(() => false), []);
  });

  it('refuses a key that was revoked elsewhere after 10 seconds', async () => {
    let now = Date.now();
    const authenticator = createAuthenticator(api.pool, () => now);
    const secret = await api.makeKey(['read']);
    await authenticator.authenticate(`Bearer ${secret}`);
    await api.pool.query("update api_keys set revoked_at = now() where name = 'test read'");
    now += 10_001;
    await assert.rejects(authenticator.authenticate(`Bearer ${secret}`), { type: 'Unauthorized' });
  });

  it('R8 shows one tenant nothing of another, and answers foreign ids like ids that never were', async () => {
    const other = await api.makeTenant();
    assert.equal((await api.ask('GET', '/v1/agents/main', { key: other.key })).status, 200);
    await api.pool.query("insert into sessions (tenant_id, key, agent_key) values ($1, 'theirs', 'main')", [
      other.tenant,
    ]);
    await api.pool.query(
      "insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 'turn_theirs', 'theirs', 'main', 'completed')",
      [other.tenant],
    );
    await api.pool.query(
      `insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, tool, args, summary, digest, always, expires_at)
       values ($1, 'apr_theirs', 'call_theirs', 'theirs', 'turn_theirs', 'main', 'exec', '{}', 'exec', 'd', '{}', now() + interval '1 hour')`,
      [other.tenant],
    );
    const requests: [string, string, unknown?][] = [
      ['GET', '/v1/sessions/ID'],
      ['GET', '/v1/sessions/ID/messages'],
      ['GET', '/v1/sessions/ID/events'],
      ['GET', '/v1/sessions/ID/turns'],
      ['POST', '/v1/sessions/ID/stop', {}],
      ['POST', '/v1/sessions/ID/steer', {}],
      ['GET', '/v1/turns/ID'],
      ['GET', '/v1/turns/ID/tool-calls'],
      ['GET', '/v1/approvals/ID'],
      ['POST', '/v1/approvals/ID/decision', {}],
      ['GET', '/v1/tool-calls/ID/result'],
      ['DELETE', '/v1/api-keys/ID'],
    ];
    const theirs = { sessions: 'theirs', turns: 'turn_theirs', approvals: 'apr_theirs' };
    for (const [method, path, body] of requests) {
      const noun = path.split('/')[2] as keyof typeof theirs;
      const shapes = [];
      for (const id of [theirs[noun] ?? 'call_theirs', 'never-was', '%00', '..%2f..', "x'%20or%201=1"]) {
        const answer = await api.ask(method, path.replace('ID', id), body === undefined ? {} : { body });
        assert.equal(answer.status, 404, `${method} ${path} ${id}`);
        const { instance: _instance, request_id: _request, ...rest } = answer.body;
        shapes.push(JSON.stringify(rest));
      }
      assert.equal(new Set(shapes).size, 1, `${path}: ${shapes.join('\n')}`);
    }
    const listed = await api.ask('GET', '/v1/sessions', { headers: { 'x-tenant-id': other.tenant } });
    assert.ok(!JSON.stringify(listed.body).includes('theirs'));
    const named = await api.ask('POST', '/v1/sessions/mine/messages', {
      body: { text: 'x', tenantId: other.tenant },
    });
    assert.equal(named.status, 400);
    assert.equal(named.body.errors[0].pointer, 'body/tenantId');
  });

  it('lets a key of a user speak for that user only', async () => {
    const ann = await api.makeKey(['run'], { user: 'ann' });
    const { status } = await api.ask('POST', '/v1/sessions/u/messages', {
      key: ann,
      body: { text: 'x', user: 'bob' },
    });
    assert.equal(status, 403);
  });

  it('lets admins of the operator’s tenant alone make tenants, each with an agent main and a key of its own', async () => {
    const made = await api.ask('POST', '/v1/tenants', { body: { id: 'acme' } });
    assert.equal(made.status, 201);
    const key = made.body.api_key.secret;
    assert.equal((await api.ask('GET', '/v1/agents', { key })).body.data[0].key, 'main');
    assert.equal((await api.ask('POST', '/v1/tenants', { key, body: { id: 'evil' } })).status, 403);
    assert.equal((await api.ask('POST', '/v1/tenants', { body: { id: 'acme' } })).status, 409);
  });

  it('leaves the id of a tenant free whose key could not be made', async (t) => {
    let fails = true;
    observeStatements(t, api.pool, ({ text }) => {
      if (fails && text.includes('insert into tenants')) throw new Error('Connection terminated');
    });
    const make = () => api.ask('POST', '/v1/tenants', { body: { id: 'late' } });
    assert.equal((await make()).status, 503);
    fails = false;
    assert.equal((await make()).status, 201);
  });
});

const SHAPE = ['code', 'detail', 'instance', 'request_id', 'retryable', 'status', 'title', 'type'];

describe('IN-1 the rate limit', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi({ settings: { rateLimitPerMinute: 5 } });
  });
  after(() => api.stop());

  it('counts per key, says what is left, and answers 429 with Retry-After', async () => {
    const key = await api.makeKey(['read']);
    const answers = [];
    for (let at = 0; at < 6; at += 1) answers.push(await api.ask('GET', '/v1/sessions', { key }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200, 429],
    );
    assert.equal(answers[0]?.headers.get('ratelimit-limit'), '5');
    assert.equal(answers[0]?.headers.get('ratelimit-remaining'), '4');
    assert.equal(answers[5]?.body.code, 'RateLimited');
    assert.ok(Number(answers[5]?.headers.get('retry-after')) > 0);
    assert.equal((await api.ask('GET', '/v1/sessions')).status, 200);
    assert.equal((await api.ask('GET', '/healthz', { key: null })).status, 200);
  });
});
