/**
 * HTTP requests, WebSockets and plain connections to addresses that others choose. Each client has its own rules and
 * connections, so that a connection which one set of rules permitted never serves another. Each address is judged as
 * text, by what it resolves to, and by the peer that was reached. Each redirect is judged like the first address.
 */
import { Agent, fetch as undiciFetch } from 'undici';
import { judgeUrl, MAX_REDIRECTS, type UrlRules } from './rules/judge-url.ts';
import { createEgressLog, type EgressLimits, type Exchange, type RecordExchange } from './egress-log.ts';
import type { Socket } from 'node:net';
import { dial, type Dialled } from './dial.ts';
import { EgressError, refusedBy, refusedRedirect } from './egress-error.ts';
import { guardedConnector, type Resolve } from './guarded-connector.ts';
import { nextHop, withoutSecrets } from './next-hop.ts';
import { type EgressProxy, openProxy, type ProxyUse } from './proxy.ts';
import { type EgressSocket, type OpenSocket, openSocket } from './socket.ts';

/** The default limits of a client. */
export const EGRESS_LIMITS: EgressLimits = {
  redirects: MAX_REDIRECTS,
  bytes: 10_485_760,
  totalMs: 30_000,
  idleMs: 15_000,
};

export interface EgressUse<Labels> {
  /** Recorded with each exchange. */
  readonly labels: Labels;
  readonly rules: UrlRules;
  readonly limits?: Partial<EgressLimits> | undefined;
  /** Requests such as a poll's, which are recorded only when they fail. */
  readonly isRoutine?: (init: RequestInit | undefined) => boolean;
}

export interface EgressClient {
  /**
   * Like fetch, with decompression; throws EgressError. The limits decide how many redirects are followed, whatever
   * `redirect` says.
   */
  readonly fetch: typeof globalThis.fetch;
  /** A WebSocket to an http(s) address. @throws EgressError when the rules forbid it */
  connect(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): EgressSocket;
  /**
   * A plain connection to the host and port of an http address, for another protocol. It is ended by `signal`, or after
   * `totalMs`. @throws EgressError
   */
  dial(url: string, signal: AbortSignal): Promise<Socket>;
  /** Ends its connections; resolves when all its exchanges are recorded. */
  close(): Promise<void>;
}

export interface EgressDeps<Labels> {
  readonly resolve: Resolve;
  readonly record: RecordExchange<Labels>;
}

export interface Egress<Labels> {
  open(use: EgressUse<Labels>): EgressClient;
  /**
   * Opens a proxy for a program with its own HTTP client, such as a browser. `host` is an address of this machine, or
   * the path of a socket to create.
   */
  proxy(use: ProxyUse<Labels>, host?: string): Promise<EgressProxy<Labels>>;
}

const HEADER_BYTES = 64 * 1024;

export function createEgress<Labels>(deps: EgressDeps<Labels>): Egress<Labels> {
  return { open: (use) => openClient(deps, use), proxy: (use, host) => openProxy(deps, use, host) };
}

function openClient<Labels>(deps: EgressDeps<Labels>, use: EgressUse<Labels>): EgressClient {
  const limits = { ...EGRESS_LIMITS, ...use.limits };
  const connector = guardedConnector(deps.resolve, use.rules);
  const agent = new Agent({
    connect: connector,
    headersTimeout: limits.idleMs,
    bodyTimeout: limits.idleMs,
    maxHeaderSize: HEADER_BYTES,
    // A wrong length ends the connection, not the process.
    strictContentLength: false,
  });
  const log = createEgressLog(deps.record, limits);
  const dialled: Dialled[] = [];
  const sockets: OpenSocket[] = [];
  return {
    async fetch(input, init) {
      // The address as it was written; a Request contains its canonical form.
      const requested = input instanceof Request ? input.url : String(input);
      const verdict = judgeUrl(requested, use.rules);
      if (verdict.decision === 'deny')
        throw log.begin(use.labels, init?.method ?? 'GET', requested).fail(refusedBy(verdict, requested));
      const request = new Request(input, init);
      const options = { isRoutine: use.isRoutine?.(init) === true, stopped: request.signal };
      const exchange = log.begin(use.labels, request.method, request.url, options);
      try {
        return countAnswer(
          await followRedirects(request, exchange, { agent, rules: use.rules, limits }),
          exchange,
        );
      } catch (error) {
        throw exchange.fail(error);
      }
    },
    connect(url, headers, signal) {
      const verdict = judgeUrl(url, use.rules);
      const exchange = log.begin(use.labels, 'GET', url, { stopped: signal });
      if (verdict.decision === 'deny') throw exchange.fail(refusedBy(verdict, url));
      const opened = openSocket(agent, exchange, headers, signal);
      sockets.push(opened);
      return opened;
    },
    async dial(url, signal) {
      const exchange = log.begin(use.labels, 'CONNECT', url, { stopped: signal });
      const late = limits.totalMs === undefined ? [] : [AbortSignal.timeout(limits.totalMs)];
      const made = await dial(connector, exchange, AbortSignal.any([signal, ...late]));
      dialled.push(made);
      return made.socket;
    },
    async close() {
      for (const { end } of [...dialled, ...sockets]) end();
      await agent.destroy();
      await log.settled();
    },
  };
}

interface ClientParts {
  readonly agent: Agent;
  readonly rules: UrlRules;
  readonly limits: EgressLimits;
}

/** Follows redirects and returns the final answer. */
async function followRedirects(
  first: Request,
  exchange: Exchange,
  { agent, rules, limits }: ClientParts,
): Promise<Response> {
  const late = limits.totalMs === undefined ? [] : [AbortSignal.timeout(limits.totalMs)];
  const signal = AbortSignal.any([first.signal, ...late]);
  let hop = {
    url: first.url,
    method: first.method,
    headers: new Headers(first.headers),
    body: first.body === null ? null : new Uint8Array(await first.arrayBuffer()),
  };
  for (let count = 0; ; count += 1) {
    exchange.url = hop.url;
    const verdict = judgeUrl(hop.url, rules);
    if (verdict.decision === 'deny') throw (count === 0 ? refusedBy : refusedRedirect)(verdict, hop.url);
    const { method, headers, body } = hop;
    const response = (await undiciFetch(verdict.url, {
      method,
      headers: [...headers],
      body,
      redirect: 'manual',
      dispatcher: agent,
      signal,
    })) as unknown as Response;
    const next = limits.redirects === 0 ? undefined : nextHop(hop, response);
    if (next === undefined) {
      exchange.url = verdict.url;
      exchange.status = response.status;
      return response;
    }
    await response.body?.cancel();
    if (count >= limits.redirects)
      throw new EgressError('redirects', `${first.url} leads on more than ${limits.redirects} times`);
    hop = { ...next, headers: withoutSecrets(next.headers, hop.url, next.url) };
  }
}

function countAnswer({ status, statusText, headers, body }: Response, exchange: Exchange): Response {
  if (!body) void exchange.end(null);
  const stream = body ? ReadableStream.from(countBody(body, exchange)) : null;
  const answer = new Response(stream, { status, statusText, headers });
  // The final address; the constructor cannot set it.
  Object.defineProperty(answer, 'url', { value: exchange.url });
  return answer;
}

/** Counts up to the limit, also for a small body that is large when decompressed. */
async function* countBody(body: AsyncIterable<Uint8Array>, exchange: Exchange): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      const problem = exchange.count(chunk.byteLength);
      if (problem) throw problem;
      yield chunk;
    }
    void exchange.end(null);
  } catch (error) {
    throw exchange.fail(error);
  } finally {
    // The reader has stopped reading.
    void exchange.end('stopped');
  }
}
