/**
 * A proxy on this machine for programs with their own HTTP client. It judges each request and each tunnel like a client
 * (egress.ts), dials the judged address, and records each. It does not see the contents of a tunnel.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import { judgeUrl, type UrlRules } from './rules/judge-url.ts';
import { createEgressLog, type Exchange, type RecordExchange } from './egress-log.ts';
import { EgressError, refusedBy } from './egress-error.ts';
import { guardedConnector, type Resolve } from './guarded-connector.ts';

export interface ProxyUse<Labels> {
  /** Recorded with each exchange. */
  readonly labels: Labels;
  readonly rules: UrlRules;
}

export interface EgressProxy<Labels> {
  readonly server: string;
  readonly username: string;
  readonly password: string;
  /**
   * Sets labels and rules of the requests from now on. Different rules end the connections that the earlier ones
   * permitted.
   */
  serve(use: ProxyUse<Labels>): void;
  /** Errors since the last call: each reason once, the newest ones. */
  takeRefusals(): readonly EgressError[];
  /** Ends all connections; resolves when they are recorded. */
  close(): Promise<void>;
}

interface ProxyDeps<Labels> {
  readonly resolve: Resolve;
  readonly record: RecordExchange<Labels>;
}

/** Bytes of one connection. */
const BYTES = 100 * 1024 * 1024;
/** Bytes that one proxy carries in total. */
const ALL_BYTES = 1024 * 1024 * 1024;
/** Number of concurrent connections. Chromium opens at most 32 to a proxy. */
const CONNECTIONS = 64;
const IDLE_MS = 60_000;
const LIMITS = { redirects: 0, bytes: BYTES, totalMs: undefined, idleMs: IDLE_MS };
const TOO_LARGE = `more than ${ALL_BYTES} bytes came over all connections`;
const REFUSALS = 50;
/** RFC 9110 §7.6.1, and headers between the program and this proxy. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

interface Carried extends Exchange {
  readonly connect: buildConnector.connector;
  /** Counts bytes from outside. False when there were too many. */
  take(bytes: number): boolean;
}

/** `host`: an address of this machine, or the path of a socket to create. */
export async function openProxy<Labels>(
  { resolve, record }: ProxyDeps<Labels>,
  first: ProxyUse<Labels>,
  host = '127.0.0.1',
): Promise<EgressProxy<Labels>> {
  const username = 'egress';
  const password = randomBytes(24).toString('base64url');
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const sockets = new Set<Duplex>();
  const log = createEgressLog(record, LIMITS);
  const refusals = new Map<string, EgressError>();
  let use = first;
  let carried = 0;

  const isKnown = ({ headers }: IncomingMessage): boolean =>
    isSame(headers['proxy-authorization'] ?? '', expected);
  const hold = (socket: Duplex): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // The error also closes the exchange; without a listener it would end the process.
    socket.on('error', () => socket.destroy());
  };
  const onFailure = (problem: EgressError): void => {
    // A page that repeats one request must not displace other refusals.
    refusals.delete(problem.message);
    refusals.set(problem.message, problem);
    const [oldest] = refusals.keys();
    if (refusals.size > REFUSALS && oldest !== undefined) refusals.delete(oldest);
  };
  const begin = (method: string, url: string): Carried => {
    const exchange = log.begin(use.labels, method, url, { onFailure });
    const connector = guardedConnector(resolve, use.rules);
    return Object.assign(exchange, {
      connect: ((options, callback) =>
        connector(options, (error, socket) => {
          if (error) return callback(error, null);
          hold(socket);
          socket.setTimeout(IDLE_MS, () => socket.destroy());
          callback(null, socket);
        })) satisfies buildConnector.connector,
      take(bytes: number) {
        carried += bytes;
        if (carried > ALL_BYTES) exchange.fail(new EgressError('too_large', TOO_LARGE));
        return exchange.count(bytes) === undefined && carried <= ALL_BYTES;
      },
    });
  };

  const server = createServer((request, reply) => {
    if (!isKnown(request)) return void reply.writeHead(407, { 'proxy-authenticate': REALM }).end();
    forward(begin(request.method ?? 'GET', request.url ?? ''), use.rules, request, reply);
  });
  server.maxConnections = CONNECTIONS;
  server.on('connection', hold);
  server.on('connect', (request, client, head) => {
    if (!isKnown(request)) return void client.end(UNAUTHORIZED);
    client.unshift(head);
    tunnel(begin('CONNECT', `https://${request.url}/`), request.url ?? '', client);
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    if (host.startsWith('/')) server.listen(host, done);
    else server.listen(0, host, done);
  });
  server.unref();
  return {
    server: `http://${host}:${(server.address() as Partial<AddressInfo>).port}`,
    username,
    password,
    serve(next) {
      const isOther = JSON.stringify(next.rules) !== JSON.stringify(use.rules);
      use = next;
      if (isOther) for (const socket of sockets) socket.destroy();
    },
    takeRefusals() {
      const taken = [...refusals.values()];
      refusals.clear();
      return taken;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await log.settled();
    },
  };
}

const REALM = 'Basic realm="egress"';
const UNAUTHORIZED = `HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: ${REALM}\r\nContent-Length: 0\r\n\r\n`;

/** Compares in constant time. */
function isSame(text: string, expected: string): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(text), digest(expected));
}

/** A request of plain HTTP with its whole address (RFC 9112 §3.2.2). */
function forward(exchange: Carried, rules: UrlRules, request: IncomingMessage, reply: ServerResponse): void {
  const refuse = (error: unknown): void => {
    const { message, isRefused } = exchange.fail(error);
    if (reply.headersSent) return void reply.destroy();
    reply.writeHead(isRefused ? 403 : 502, { 'content-type': 'text/plain; charset=utf-8' }).end(message);
  };
  const requested = request.url ?? '';
  const verdict = judgeUrl(requested, rules);
  if (verdict.decision === 'deny') return refuse(refusedBy(verdict, requested));
  const { hostname, port, protocol, pathname, search } = new URL(verdict.url);
  if (protocol !== 'http:') return refuse(new EgressError('scheme', `${requested} takes a tunnel`, true));
  const out = httpRequest({
    method: request.method,
    hostname,
    port: port || 80,
    path: `${pathname}${search}`,
    headers: withoutHops(request.rawHeaders),
    setHost: false,
    createConnection(_options, made) {
      const place = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port };
      // Node's type has no signature without a socket.
      exchange.connect(place, (error, socket) => made(error, socket as Socket));
      return undefined;
    },
  });
  out.once('error', refuse);
  out.once('response', (answer) => {
    exchange.status = answer.statusCode ?? 502;
    reply.writeHead(exchange.status, answer.statusMessage, withoutHops(answer.rawHeaders));
    answer.on('data', (chunk: Buffer) => {
      if (!exchange.take(chunk.length)) answer.destroy();
    });
    answer.once('end', () => void exchange.end(null));
    answer.once('close', () => {
      void exchange.end('stopped');
      if (!answer.complete) reply.destroy();
    });
    answer.pipe(reply);
  });
  reply.once('close', () => {
    void exchange.end('stopped');
    out.destroy();
  });
  request.pipe(out);
}

function withoutHops(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** CONNECT: copies bytes both ways, to the judged address. */
function tunnel(exchange: Carried, place: string, client: Duplex): void {
  const refuse = (error: unknown): void => {
    const { isRefused } = exchange.fail(error);
    client.end(`HTTP/1.1 ${isRefused ? '403 Forbidden' : '502 Bad Gateway'}\r\n\r\n`);
  };
  if (!URL.canParse(`https://${place}/`))
    return refuse(new EgressError('malformed', 'a tunnel needs host:port', true));
  const { hostname, port } = new URL(`https://${place}/`);
  // Plain: the program adds TLS. The port is always present, so the scheme does not affect the judge.
  const options = { protocol: 'http:', hostname: hostname.replace(/^\[|\]$/g, ''), port: port || '443' };
  exchange.connect(options, (error, socket) => {
    if (error) return refuse(error);
    exchange.status = 200;
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    socket.on('data', (chunk: Buffer) => {
      if (!exchange.take(chunk.length)) socket.destroy();
    });
    // The program must not see the end of a WebSocket before it is recorded.
    const finish = async (): Promise<void> => {
      await exchange.end(null);
      client.end(() => client.destroy());
    };
    socket.once('close', () => void finish());
    client.once('close', () => socket.destroy());
    socket.pipe(client, { end: false });
    client.pipe(socket);
  });
}
