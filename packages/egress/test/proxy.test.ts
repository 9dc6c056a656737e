import assert from 'node:assert/strict';
import { createServer, request, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createEgress, type EgressProxy, type ExchangeRecord } from '@tempoclaw/egress';
import type { UrlRules } from '@tempoclaw/egress/rules';

interface Labels {
  readonly call: number;
}

async function opened(
  t: TestContext,
  rules: UrlRules,
  recordMs = 0,
): Promise<{ proxy: EgressProxy<Labels>; records: ExchangeRecord<Labels>[] }> {
  const records: ExchangeRecord<Labels>[] = [];
  const egress = createEgress<Labels>({
    resolve: async (host) => (host === 'inner.example' ? ['10.0.0.7'] : ['127.0.0.1']),
    record: async (exchange) => {
      if (recordMs > 0) await delay(recordMs);
      records.push(exchange);
    },
  });
  const proxy = await egress.proxy({ labels: { call: 1 }, rules });
  t.after(() => proxy.close());
  return { proxy, records };
}

function authorization({ username, password }: EgressProxy<Labels>): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Sends plain HTTP through the proxy. */
async function through(
  proxy: EgressProxy<Labels>,
  url: string,
  body = '',
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; text: string }> {
  const { hostname, port } = new URL(proxy.server);
  const answer = await new Promise<IncomingMessage>((done, failed) => {
    const sent = request({
      hostname,
      port,
      method: body === '' ? 'GET' : 'POST',
      path: url,
      headers: { host: new URL(url).host, 'proxy-authorization': authorization(proxy), ...headers },
    });
    sent.once('response', done).once('error', failed).end(body);
  });
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return { status: answer.statusCode, text };
}

/** The first line of the answer to a tunnel request, and the tunnel's socket. */
async function tunnel(proxy: EgressProxy<Labels>, place: string): Promise<{ line: string; socket: Socket }> {
  const { hostname, port } = new URL(proxy.server);
  const socket = connect(Number(port), hostname);
  socket.write(
    `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\nProxy-Authorization: ${authorization(proxy)}\r\n\r\n`,
  );
  const first = await new Promise<Buffer>((done) => socket.once('data', done));
  return { line: first.toString().split('\r\n')[0] ?? '', socket };
}

async function echoing(t: TestContext): Promise<number> {
  const server = createTcpServer((socket) => void socket.on('error', () => undefined).pipe(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a proxy', () => {
  it('passes plain requests on as they are, without its own password, and records each', async (t) => {
    const seen: string[] = [];
    const server = createServer((message, reply) => {
      seen.push(
        `${message.method} ${message.url} ${message.headers.host} ${message.headers['proxy-authorization'] ?? 'none'}`,
      );
      if (message.url === '/away')
        return void reply.writeHead(302, { location: 'http://inner.example/' }).end();
      message.pipe(reply);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => void server.close());
    const place = `pub.example:${(server.address() as AddressInfo).port}`;
    const { proxy, records } = await opened(t, { internalHosts: [place] });
    assert.deepEqual(await through(proxy, `http://${place}/a?b=1`, 'hello'), { status: 200, text: 'hello' });
    assert.equal((await through(proxy, `http://${place}/away`)).status, 302);
    assert.deepEqual(seen, [`POST /a?b=1 ${place} none`, `GET /away ${place} none`]);
    await proxy.close();
    assert.deepEqual(
      records.map(({ labels, method, host, status, bytes, problem }) => [
        labels.call,
        method,
        host,
        status,
        bytes,
        problem,
      ]),
      [
        [1, 'POST', place, 200, 5, null],
        [1, 'GET', place, 302, 0, null],
      ],
    );
  });

  it('refuses who has no password, and what the rules do not let through, by name and by address', async (t) => {
    const { proxy, records } = await opened(t, {});
    const unknown = await through(proxy, 'http://pub.example/', '', { 'proxy-authorization': 'Basic eDp5' });
    assert.equal(unknown.status, 407);
    const refused = await through(proxy, 'http://169.254.169.254/latest');
    assert.equal(refused.status, 403);
    assert.match(refused.text, /clouds give out credentials/);
    for (const place of ['inner.example:443', '127.0.0.1:5432', '[::1]:443', 'pub.example:443', 'a b'])
      assert.match((await tunnel(proxy, place)).line, /^HTTP\/1\.1 (403|400) /, place);
    assert.deepEqual(
      proxy
        .takeRefusals()
        .map(({ rule }) => rule)
        .slice(0, 5),
      ['metadata', 'private', 'port', 'loopback', 'loopback'],
    );
    await proxy.close();
    assert.equal(
      records.every(({ status, problem }) => status === null && problem !== null),
      true,
    );
  });

  it('tunnels to the judged address, and ends a tunnel that newer rules would not let through', async (t) => {
    const port = await echoing(t);
    const rules = { internalHosts: [`pub.example:${port}`] };
    const { proxy, records } = await opened(t, rules);
    const { line, socket } = await tunnel(proxy, `pub.example:${port}`);
    assert.match(line, / 200 /);
    const back = new Promise<Buffer>((done) => socket.once('data', done));
    socket.write('through');
    assert.equal((await back).toString(), 'through');
    proxy.serve({ labels: { call: 2 }, rules: { ...rules } });
    assert.equal(socket.destroyed, false);
    const closed = new Promise((done) => socket.once('close', done));
    proxy.serve({ labels: { call: 3 }, rules: {} });
    await closed;
    await proxy.close();
    assert.deepEqual(
      records.map(({ labels, method, host, bytes }) => [labels.call, method, host, bytes]),
      [[1, 'CONNECT', `pub.example:${port}`, 7]],
    );
  });

  it('records a tunnel before its program sees the end, which comes with the last bytes', async (t) => {
    const server = createTcpServer((socket) => void socket.end('last words'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => void server.close());
    const place = `pub.example:${(server.address() as AddressInfo).port}`;
    const { proxy, records } = await opened(t, { internalHosts: [place] }, 50);
    const { hostname, port } = new URL(proxy.server);
    const socket = connect(Number(port), hostname);
    socket.write(`CONNECT ${place} HTTP/1.1\r\nProxy-Authorization: ${authorization(proxy)}\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    assert.match(text, /last words$/);
    assert.deepEqual(
      records.map(({ bytes, problem }) => [bytes, problem]),
      [[10, null]],
    );
  });
});
