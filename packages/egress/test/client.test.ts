import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  createEgress,
  type EgressClient,
  type EgressLimits,
  type EgressUse,
  EgressError,
  type ExchangeRecord,
} from '@tempoclaw/egress';
import type { UrlRules } from '@tempoclaw/egress/rules';

type Handler = (request: IncomingMessage, reply: ServerResponse) => void;

interface Site {
  readonly port: number;
  readonly requests: string[];
  readonly headers: IncomingMessage['headers'][];
}

/** A server on this machine, which is closed after the test with all its connections. */
async function listening(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function site(t: TestContext, handle: Handler): Promise<Site> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, reply) => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    handle(request, reply);
  });
  return { port: await listening(t, server), requests, headers };
}

interface Labels {
  readonly purpose: string;
}

interface Opened {
  readonly client: EgressClient;
  readonly records: ExchangeRecord<Labels>[];
  readonly resolved: string[];
}

/** `dns`: the answers for a name, one lookup after the other; the last one is repeated. */
function open(
  t: TestContext,
  rules: UrlRules,
  dns: Readonly<Record<string, readonly string[][]>> = {},
  limits: Partial<EgressLimits> = {},
  isRoutine: NonNullable<EgressUse<Labels>['isRoutine']> = () => false,
  recordMs = 0,
): Opened {
  const records: ExchangeRecord<Labels>[] = [];
  const resolved: string[] = [];
  const egress = createEgress<Labels>({
    async resolve(host) {
      const answers = dns[host] ?? [['93.184.215.14']];
      const answer = answers[Math.min(resolved.filter((name) => name === host).length, answers.length - 1)];
      resolved.push(host);
      return answer ?? [];
    },
    async record(exchange) {
      if (recordMs > 0) await delay(recordMs);
      records.push(exchange);
    },
  });
  const client = egress.open({
    labels: { purpose: 'fetch' },
    rules,
    limits,
    isRoutine,
  });
  t.after(() => client.close());
  return { client, records, resolved };
}

async function refusal(pending: Promise<Response>): Promise<EgressError> {
  try {
    await (await pending).text();
  } catch (error) {
    assert.ok(error instanceof EgressError, String(error));
    return error;
  }
  assert.fail('an answer came');
}

describe('a client', () => {
  it('reaches a public name at the address that was judged, and records it', async (t) => {
    const { port } = await site(t, (_request, reply) => reply.end('hello'));
    const { client, records, resolved } = open(
      t,
      { internalHosts: [`pub.example:${port}`] },
      { 'pub.example': [['127.0.0.1']] },
    );
    const reply = await client.fetch(`http://pub.example:${port}/a`);
    assert.equal(await reply.text(), 'hello');
    assert.equal(reply.url, `http://pub.example:${port}/a`);
    assert.deepEqual(resolved, ['pub.example']);
    await client.close();
    const [record] = records;
    assert.deepEqual(
      { ...record, milliseconds: 0 },
      {
        labels: { purpose: 'fetch' },
        method: 'GET',
        host: `pub.example:${port}`,
        status: 200,
        bytes: 5,
        problem: null,
        milliseconds: 0,
      },
    );
  });

  it('reaches a private place by host and port only where the rules have it', async (t) => {
    const { port, requests } = await site(t, (_request, reply) => reply.end('inside'));
    const { client } = open(t, { internalHosts: [`127.0.0.1:${port}`] });
    assert.equal(await (await client.fetch(`http://127.0.0.1:${port}/`)).text(), 'inside');
    const other = open(t, { internalHosts: ['127.0.0.1:1'] });
    const error = await refusal(other.client.fetch(`http://127.0.0.1:${port}/`));
    assert.deepEqual([error.rule, error.isRefused], ['loopback', true]);
    await other.client.close();
    assert.deepEqual(
      other.records.map(({ problem, status }) => [problem, status]),
      [['loopback', null]],
    );
    assert.equal(requests.length, 1);
  });

  it('never connects where a name resolves to a private address, on the first lookup or a later one', async (t) => {
    const { port, requests } = await site(t, (_request, reply) => {
      reply.setHeader('connection', 'close').end('once');
    });
    const rebinding = open(
      t,
      { internalHosts: [`pub.example:${port}`] },
      { 'evil.example': [['10.0.0.5', '93.184.215.14']] },
    );
    const error = await refusal(rebinding.client.fetch(`http://evil.example:${port}/`));
    assert.equal(error.rule, 'private');
    assert.match(error.message, /evil\.example resolves to 10\.0\.0\.5/);
    assert.deepEqual(rebinding.resolved, ['evil.example']);
    const later = open(
      t,
      { internalHosts: [`pub.example:${port}`] },
      { 'pub.example': [['127.0.0.1'], ['169.254.169.254']] },
    );
    assert.equal(await (await later.client.fetch(`http://pub.example:${port}/`)).text(), 'once');
    assert.equal((await refusal(later.client.fetch(`http://pub.example:${port}/`))).rule, 'metadata');
    assert.equal(requests.length, 1);
  });

  it('records what is routine only when it fails', async (t) => {
    const place = await site(t, (_request, reply) => reply.end('alive'));
    const { client, records } = open(
      t,
      { internalHosts: [`127.0.0.1:${place.port}`] },
      {},
      {},
      ({ body } = {}) => body === 'ping',
    );
    const ask = (body: string) => client.fetch(`http://127.0.0.1:${place.port}/`, { method: 'POST', body });
    await (await ask('ping')).text();
    await (await ask('other')).text();
    assert.deepEqual(
      records.map(({ status, problem }) => [status, problem]),
      [[200, null]],
    );
    await client.fetch('http://127.0.0.1:1/', { method: 'POST', body: 'ping' }).catch(() => undefined);
    assert.equal(records.length, 2);
  });

  it('follows three redirects, each judged as the first address, and no fourth', async (t) => {
    const place = await site(t, (request, reply) => {
      const count = Number(request.url?.slice(1));
      if (count === 0) reply.end('there');
      else reply.writeHead(302, { location: `/${count - 1}` }).end();
    });
    const { client } = open(t, { internalHosts: [`127.0.0.1:${place.port}`] });
    const reply = await client.fetch(`http://127.0.0.1:${place.port}/3`);
    assert.equal(await reply.text(), 'there');
    assert.equal(reply.url, `http://127.0.0.1:${place.port}/0`);
    assert.equal((await refusal(client.fetch(`http://127.0.0.1:${place.port}/4`))).rule, 'redirects');
  });

  it('does not follow to a private address, another scheme, or an address with a user name', async (t) => {
    const leads = [
      'http://169.254.169.254/latest',
      'http://10.0.0.1/',
      'file:///etc/passwd',
      'http://a@8.8.8.8/',
      'http://2130706433/',
    ];
    const place = await site(t, (request, reply) =>
      reply.writeHead(301, { location: leads[Number(request.url?.slice(1))] }).end(),
    );
    const { client, records } = open(t, { internalHosts: [`127.0.0.1:${place.port}`] });
    const refusals = [];
    for (const index of leads.keys())
      refusals.push(await refusal(client.fetch(`http://127.0.0.1:${place.port}/${index}`)));
    const rules = refusals.map(({ rule }) => rule);
    assert.deepEqual(rules, ['metadata', 'private', 'scheme', 'userinfo', 'loopback']);
    assert.equal(
      refusals[2]?.message,
      'it leads on to an address without a host, which may not be asked: file: is not http or https',
    );
    await client.close();
    assert.equal(records.length, leads.length);
  });

  it('carries a key to no other origin, and a body only where the redirect keeps the method', async (t) => {
    const other = await site(t, (_request, reply) => reply.end('other'));
    const first = await site(t, (request, reply) =>
      reply.writeHead(Number(request.url?.slice(1)), { location: `http://127.0.0.1:${other.port}/x` }).end(),
    );
    const { client } = open(t, { internalHosts: [first, other].map(({ port }) => `127.0.0.1:${port}`) });
    const headers = {
      authorization: 'Bearer k',
      'x-api-key': 'k',
      accept: 'text/html',
      'content-type': 'text/plain',
    };
    for (const status of [303, 307])
      await (
        await client.fetch(`http://127.0.0.1:${first.port}/${status}`, { method: 'POST', headers, body: 'b' })
      ).text();
    assert.deepEqual(other.requests, ['GET /x', 'POST /x']);
    for (const got of other.headers) {
      assert.equal(got.authorization, undefined);
      assert.equal(got['x-api-key'], undefined);
      assert.equal(got.accept, 'text/html');
    }
    assert.equal(first.headers[0]?.authorization, 'Bearer k');
  });

  it('ends an endless body and a compression bomb at the bound', async (t) => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const place = await site(t, (request, reply) => {
      if (request.url === '/bomb') return void reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      const timer = setInterval(() => reply.write(Buffer.alloc(65_536)), 1);
      reply.on('close', () => clearInterval(timer));
    });
    const { client, records } = open(
      t,
      { internalHosts: [`127.0.0.1:${place.port}`] },
      {},
      { bytes: 1_000_000 },
    );
    for (const path of ['bomb', 'endless'])
      assert.equal((await refusal(client.fetch(`http://127.0.0.1:${place.port}/${path}`))).rule, 'too_large');
    await client.close();
    assert.deepEqual(
      records.map(({ problem }) => problem),
      ['too_large', 'too_large'],
    );
    assert.ok(records.every(({ bytes }) => bytes < 2_000_000));
  });

  it('ends what drips: headers byte by byte, and bodies that never end', async (t) => {
    const drip = createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('X'), 20);
      socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    });
    const port = await listening(t, drip);
    const slow = await site(t, (_request, reply) => {
      const timer = setInterval(() => reply.write('.'), 20);
      reply.on('close', () => clearInterval(timer));
    });
    const places = [port, slow.port].map((one) => `127.0.0.1:${one}`);
    const { client, records } = open(t, { internalHosts: places }, {}, { totalMs: 300 });
    const rules: string[] = [];
    for (const place of places) rules.push((await refusal(client.fetch(`http://${place}/`))).rule);
    // A peer without HTTP is refused by its first line.
    assert.ok(['timeout', 'unreachable'].includes(rules[0] ?? ''), rules[0]);
    assert.equal(rules[1], 'timeout');
    await client.close();
    assert.equal(records.at(-1)?.problem, 'timeout');
  });

  it('judges what was written, before it is read as an address, and records that too', async (t) => {
    const { client, records } = open(t, {});
    const requests = [
      'http://exa\tmple.com/',
      'http:///path',
      'nowhere',
      'ftp://example.com/',
      'http://a:b@8.8.8.8/',
    ];
    const rules: string[] = [];
    for (const url of requests) rules.push((await refusal(client.fetch(url))).rule);
    assert.deepEqual(rules, ['malformed', 'malformed', 'malformed', 'scheme', 'userinfo']);
    await client.close();
    assert.deepEqual(
      records.map(({ problem }) => problem),
      rules,
    );
  });

  it('says what a caller stopped, and what cannot be reached', async (t) => {
    const place = await site(t, () => undefined);
    const { client } = open(t, { internalHosts: [`127.0.0.1:${place.port}`, '127.0.0.1:9'] });
    const stop = new AbortController();
    const pending = refusal(client.fetch(`http://127.0.0.1:${place.port}/`, { signal: stop.signal }));
    setTimeout(() => stop.abort(), 50);
    assert.equal((await pending).rule, 'stopped');
    const closed = await refusal(client.fetch('http://127.0.0.1:9/'));
    assert.deepEqual([closed.rule, closed.isRefused], ['unreachable', false]);
    const plain = await refusal(client.fetch(`https://127.0.0.1:${place.port}/`));
    assert.match(plain.message, /cannot be reached: its TLS failed: [\w ]+$/);
  });

  it('requires each of several lists to let a host through', async (t) => {
    const { client } = open(t, {
      domains: [
        { blocked_domains: ['evil.example'] },
        undefined,
        { policy: 'allowlist', allowed_domains: ['good.example', 'evil.example'] },
      ],
    });
    assert.equal((await refusal(client.fetch('http://evil.example/'))).rule, 'blocked_domain');
    assert.equal((await refusal(client.fetch('http://other.example/'))).rule, 'not_listed');
  });

  it('records a WebSocket before its reader sees the end, and when the client is closed while it is open', async (t) => {
    const server = createServer();
    const port = await listening(t, server);
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket: WebSocket) =>
      socket.on('message', (message) => {
        if (String(message) === 'end') socket.close();
        else socket.send(String(message));
      }),
    );
    const { client, records } = open(t, { internalHosts: [`127.0.0.1:${port}`] }, {}, {}, undefined, 50);
    const opened = () => client.connect(`http://127.0.0.1:${port}/`, {}, new AbortController().signal);
    const got: string[] = [];
    await assert.rejects(async () => {
      for await (const message of opened().messages(['hello', 'end'])) got.push(String(message));
    }, /ended too early/);
    assert.deepEqual(got, ['hello']);
    const recorded = (): unknown => records.map(({ bytes, problem }) => [bytes, problem]);
    assert.deepEqual(recorded(), [[5, null]]);
    const stop = new AbortController();
    const stopped = client.connect(`http://127.0.0.1:${port}/`, {}, stop.signal).messages([]);
    const next = stopped[Symbol.asyncIterator]().next();
    setTimeout(() => stop.abort(), 20);
    await assert.rejects(next, { rule: 'stopped' });
    assert.deepEqual(records.at(-1)?.problem, 'stopped');
    await opened().messages(['more'])[Symbol.asyncIterator]().next();
    await client.close();
    assert.deepEqual(recorded(), [
      [5, null],
      [0, 'stopped'],
      [4, null],
    ]);
  });
});
