import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

interface HostileCase {
  readonly id: string;
  readonly class: string;
  readonly method: string;
  readonly path: string;
  readonly note?: string;
  readonly expect_status: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly no_default_auth?: boolean;
  readonly body?: unknown;
  readonly raw_body?: string;
  readonly raw_body_hex?: string;
  readonly raw_body_repeat?: readonly [string, number] | { readonly prefix: string; readonly length: number };
  readonly body_size?: number;
  readonly raw_request?: string;
  readonly scenario?: boolean;
  readonly assert_body_excludes?: readonly string[];
  readonly assert_headers?: readonly string[];
}

const { cases } = JSON.parse(
  readFileSync(new URL('../vectors/http-hostile.json', import.meta.url), 'utf8'),
) as { cases: readonly HostileCase[] };

/** Incoming webhooks, files and a policy of one tool are not routes of ours. Scenarios have tests of their own. */
const NOT_OURS = /^(\/v1\/hooks\/|\/v1\/tools\/exec\/policy)/;
const LEAKS =
  /\bat .+\.ts:\d+|node_modules|select .+ from|insert into|tc_[0-9A-Za-z]{32}|\/(work|home|root|usr)\//i;

describe('R8, R11 hostile requests', () => {
  let stack: Stack;
  const words = new Map<string, string>();
  before(async () => {
    stack = await startStack();
    const other = await stack.makeTenant();
    await stack.pool.query("insert into sessions (tenant_id, key, agent_key) values ($1, 'ses-b', 'main')", [
      other.tenant,
    ]);
    await stack.ask('POST', '/v1/sessions/ses-a/messages?wait=20', { body: { text: 'hello' } });
    const waiting = await stack.ask('POST', '/v1/tools/poke/invoke', { body: { args: { note: 'a' } } });
    words.set('$TOKEN_A', stack.key);
    words.set('$TOKEN_OPERATOR', await stack.makeKey(['read', 'run', 'approve']));
    words.set('$TOKEN_EXPIRED', await stack.makeKey(['admin'], { expiresAt: '2020-01-01T00:00:00Z' }));
    const revoked = await stack.ask('POST', '/v1/api-keys', { body: { name: 'revoked', scopes: ['admin'] } });
    await stack.ask('DELETE', `/v1/api-keys/${revoked.body.id}`);
    words.set('$TOKEN_REVOKED', revoked.body.secret);
    words.set('$SESSION_A', 'ses-a');
    words.set('$SESSION_B', 'ses-b');
    words.set('$APPROVAL_A', waiting.body.approval_id);
    words.set('$APPROVAL_B', 'apr_of-b');
  });
  after(() => stack.stop());

  const fill = (text: string): string =>
    [...words].reduce((filled, [word, value]) => filled.replaceAll(word, value), text);

  /** The plan's paths and fields differ from ours; class and expectation stay. */
  function toOurs(one: HostileCase): { path: string; body: Buffer | undefined } {
    let path = fill(one.path).replace('/cancel', '/stop');
    let text = bodyOf(one);
    if (one.method === 'POST' && path.replace(/\?.*/, '') === '/v1/sessions')
      path = '/v1/sessions/hostile/messages';
    if (text !== undefined && /hostile\/messages/.test(path))
      text = Buffer.from(text.toString('latin1').replaceAll('"input"', '"text"'), 'latin1');
    return { path, body: text };
  }

  for (const one of cases) {
    if (one.scenario || NOT_OURS.test(one.path)) continue;
    it(`${one.id} ${one.class}: ${one.note ?? one.path.slice(0, 60)}`, async () => {
      const rows = async () =>
        (
          await stack.pool.query(
            "select count(*)::int as n from messages where session_key = 'hostile' and role = 'user'",
          )
        ).rows[0].n;
      const before = await rows();
      const { path, body } = toOurs(one);
      const answer = await send(stack, one.raw_request ?? rawRequest(one, path, body, fill));
      assert.ok(one.expect_status.includes(answer.status), `${answer.status} ${answer.body.slice(0, 300)}`);
      assert.ok(answer.status < 500);
      assert.doesNotMatch(answer.body, LEAKS);
      if (answer.status >= 400) assert.equal(await rows(), before);
      for (const excluded of one.assert_body_excludes ?? []) assert.ok(!answer.body.includes(fill(excluded)));
      for (const header of one.assert_headers ?? [])
        assert.match(answer.head, new RegExp(`^${header}:`, 'im'));
      assert.equal(({} as Record<string, unknown>)['isAdmin'], undefined);
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
      assert.equal((await stack.ask('GET', '/healthz', { key: null })).status, 200);
    });
  }

  it('takes no text that cannot be kept: broken UTF-8, lone surrogates, NUL in any depth', async () => {
    for (const body of [
      Buffer.from('{"text":"\xff\xfe"}', 'latin1'),
      Buffer.from('{"text":"\\ud800"}'),
      Buffer.from('{"args":{"a":["b\\u0000"]}}'),
      Buffer.from('{"args":{"a\\u0000":1}}'),
      Buffer.from('{"args":{"n":1e999}}'),
      Buffer.from(`{"args":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
      Buffer.from(`{"args":{"many":[${'1,'.repeat(200_000)}1]}}`),
    ]) {
      const path = body.toString('latin1').includes('args')
        ? '/v1/tools/peek/invoke'
        : '/v1/sessions/hostile/messages';
      const response = await fetch(stack.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
        body,
      });
      assert.equal(response.status, 400, body.subarray(0, 60).toString('latin1'));
      assert.match(response.headers.get('content-type') ?? '', /problem\+json/);
    }
  });

  it('says what is wrong with a field in words for people', async () => {
    const say = async (path: string, body?: unknown) =>
      (await stack.ask(body === undefined ? 'GET' : 'POST', path, { body })).body.detail;
    assert.equal(await say('/v1/agents', { model: 'rehearsal/follow' }), 'body/key: is required');
    assert.equal(await say('/v1/agents', { key: 'x' }), 'body/model: is required');
    assert.equal(
      await say('/v1/agents', { key: 'x', model: 5 }),
      'body/model: Invalid input: expected string, received number, or Invalid input: expected array, received number',
    );
    const agent = { key: 'x', model: 'rehearsal/follow' };
    assert.equal(
      await say('/v1/agents', { ...agent, sandbox: { network: 'yes' } }),
      'body/sandbox/network: Invalid input: expected boolean, received string',
    );
    assert.match(await say('/v1/agents', { ...agent, model: ['a/b', 5] }), /^body\/model\/1: /);
    assert.match(await say('/v1/agents', { ...agent, sandbox: 'never' }), /^body\/sandbox: .*"off"/);
    assert.equal(
      await say('/v1/sessions/hostile/messages', { text: ' \n\t' }),
      'body/text: must be more than blanks',
    );
    assert.equal(await say('/v1/agents?limit=many'), 'query/limit: must be a number');
    const old = { name: 'old', scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' };
    assert.equal(await say('/v1/api-keys', old), 'body/expires_at: is in the past');
  });

  it('takes JSON only as UTF-8 and only as application/json', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
    ]) {
      const answer = await stack.ask('POST', '/v1/sessions/hostile/messages', {
        body: { text: 'x' },
        headers: { 'content-type': type },
      });
      assert.equal(answer.status, 415, type);
      assert.equal(answer.body.code, 'UnsupportedMedia');
    }
  });

  it('R8 takes no body in an encoding that it does not undo, and no two keys', async () => {
    const packed = await stack.ask('POST', '/v1/agents', {
      body: { key: 'packed', model: 'rehearsal/echo' },
      headers: { 'content-encoding': 'gzip' },
    });
    assert.deepEqual([packed.status, packed.body.code], [415, 'UnsupportedMedia']);
    const key = `Authorization: Bearer ${stack.key}`;
    const host = `Host: ${new URL(stack.url).host}\r\nConnection: close`;
    const answers = [`${key}\r\n${key}`, `${key}\r\nAuthorization: Bearer tc_none`, key].map((keys) =>
      send(stack, `GET /v1/sessions HTTP/1.1\r\n${host}\r\n${keys}\r\n\r\n`),
    );
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [401, 401, 200],
    );
  });

  it('R8 opens no tunnel, and says so', async () => {
    const key = `Authorization: Bearer ${stack.key}\r\n`;
    for (const [target, keys] of [
      ['/v1/sessions', ''],
      ['/v1/sessions', key],
      ['169.254.169.254:80', key],
    ]) {
      const answer = await send(stack, `CONNECT ${target} HTTP/1.1\r\nHost: api.test\r\n${keys}\r\n`);
      assert.deepEqual([answer.status, JSON.parse(answer.body).code], [405, 'MethodNotAllowed']);
    }
    assert.equal((await stack.ask('GET', '/healthz', { key: null })).status, 200);
  });

  it('sends headers that keep browsers from guessing, framing and keeping', async () => {
    const { headers } = await stack.ask('GET', '/v1/sessions');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/);
    assert.equal(headers.get('strict-transport-security'), null);
    assert.equal(headers.get('access-control-allow-origin'), null);
  });

  it('closes connections whose headers do not come, and serves others meanwhile', async () => {
    assert.ok(stack.app.server.headersTimeout > 0 && stack.app.server.headersTimeout <= 60_000);
    const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(stack.url).port), '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined).write('GET /v1/sess');
    assert.equal((await stack.ask('GET', '/healthz', { key: null })).status, 200);
    for (const socket of sockets) socket.destroy();
  });
});

function bodyOf(one: HostileCase): Buffer | undefined {
  if (one.raw_body_hex !== undefined) return Buffer.from(one.raw_body_hex, 'hex');
  if (one.raw_body !== undefined) return Buffer.from(one.raw_body);
  if (one.body_size !== undefined) return Buffer.from(`{"text":"${'x'.repeat(one.body_size - 11)}"}`);
  const repeat = one.raw_body_repeat;
  if (repeat !== undefined)
    return Buffer.from(
      'prefix' in repeat ? `${repeat.prefix.padEnd(repeat.length - 1, '0')}}` : repeat[0].repeat(repeat[1]),
    );
  return one.body === undefined ? undefined : Buffer.from(JSON.stringify(one.body));
}

function rawRequest(
  one: HostileCase,
  path: string,
  body: Buffer | undefined,
  fill: (text: string) => string,
): string {
  const headers: Record<string, string> = {
    host: 'api.test',
    connection: 'close',
    ...(one.no_default_auth ? {} : { authorization: fill('Bearer $TOKEN_A') }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(body.length) }),
  };
  for (const [name, value] of Object.entries(one.headers ?? {})) headers[name] = fill(value);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${one.method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body?.toString('latin1') ?? ''}`;
}

/** Uses a bare socket, because an HTTP client would refuse to send this. */
function send(stack: Stack, request: string): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(stack.url).port), '127.0.0.1');
    let text = '';
    const end = (): void => {
      const at = text.indexOf('\r\n\r\n');
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
      if (Number.isNaN(status)) reject(new Error(`no answer: ${text.slice(0, 200)}`));
      else resolve({ status, head: text.slice(0, at), body: text.slice(at + 4) });
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('end', end);
    socket.on('error', () => (text ? end() : reject(new Error('the connection broke without an answer'))));
    socket.write(Buffer.from(request, 'latin1'));
  });
}
