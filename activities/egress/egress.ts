/**
 * The one way out (SECURITY R5): whatever a tool, an MCP server, a download or a webhook asks, over HTTP or else, is asked through a door. A door
 * has its rules and connections of its own, so that no connection which one set of rules allowed serves another. Each address is judged as text,
 * by what it resolves to, and once more by the peer that was reached; each redirect is judged like the first address.
 */
import { Agent, fetch as undiciFetch } from 'undici';
import { judgeUrl, MAX_REDIRECTS, type UrlRules } from '#domain/net/judge-url.ts';
import { type Requester, createEgressLog, type Exchange } from './egress-log.ts';
import type { Socket } from 'node:net';
import type { NewEgressRow } from '#store/egress-store.ts';
import { dial, type Dialled } from './dial.ts';
import { EgressError, refusedBy, refusedRedirect } from './egress-error.ts';
import { guardedConnector, type Resolve } from './guarded-connector.ts';
import { nextHop, withoutSecrets } from './next-hop.ts';
import { type EgressProxy, openProxy, type ProxyUse } from './proxy.ts';
import { type EgressSocket, type OpenSocket, openSocket } from './socket.ts';

/** Of one exchange: a redirect's answers count as one with the last. */
export interface EgressLimits {
  /** Redirects that are followed; 0: the caller sees them. */
  readonly redirects: number;
  /** Of the answer, as it is read: decompressed. */
  readonly bytes: number;
  /** Until the answer is read whole; undefined for streams, which are silent for at most `idleMs`. */
  readonly totalMs: number | undefined;
  readonly idleMs: number;
}

/** 10 MB and 30 s (REFERENCE §6). */
export const EGRESS_LIMITS: EgressLimits = {
  redirects: MAX_REDIRECTS,
  bytes: 10_485_760,
  totalMs: 30_000,
  idleMs: 15_000,
};

export interface EgressUse extends Requester {
  readonly rules: UrlRules;
  readonly limits?: Partial<EgressLimits> | undefined;
  /** What is asked again and again has no row unless it fails. */
  readonly isRoutine?: (init: RequestInit | undefined) => boolean;
}

export interface EgressClient {
  /** As fetch, decompressing; throws EgressError. Redirects are followed as the limits say, whatever `redirect` says. */
  readonly fetch: typeof globalThis.fetch;
  /** A WebSocket to what an http(s) address names. @throws EgressError when it may not be asked */
  connect(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): EgressSocket;
  /**
   * A plain connection to the host and port of an http address, for another protocol. It ends by `signal`, or after `totalMs`.
   * @throws EgressError
   */
  dial(url: string, signal: AbortSignal): Promise<Socket>;
  /** Ends its connections; resolves when the rows of what it asked are written. */
  close(): Promise<void>;
}

export interface EgressDeps {
  readonly resolve: Resolve;
  /** Keeps one row for each exchange. Never rejects: what was asked has its answer already. */
  readonly record: (row: NewEgressRow) => Promise<void>;
}

export interface Egress {
  open(use: EgressUse): EgressClient;
  /** For a program that speaks HTTP itself and knows proxies: a browser. */
  proxy(use: ProxyUse, host?: string): Promise<EgressProxy>;
}

const HEADER_BYTES = 64 * 1024;

export function createEgress(deps: EgressDeps): Egress {
  return { open: (use) => openDoor(deps, use), proxy: (use, host) => openProxy(deps, use, host) };
}

function openDoor(deps: EgressDeps, use: EgressUse): EgressClient {
  const limits = { ...EGRESS_LIMITS, ...use.limits };
  const connector = guardedConnector(deps.resolve, use.rules);
  const agent = new Agent({
    connect: connector,
    headersTimeout: limits.idleMs,
    bodyTimeout: limits.idleMs,
    maxHeaderSize: HEADER_BYTES,
    // A wrong length ends the connection, not the worker.
    strictContentLength: false,
  });
  const account = createEgressLog(deps.record, limits);
  const dialled: Dialled[] = [];
  const sockets: OpenSocket[] = [];
  return {
    async fetch(input, init) {
      // As it was written: a Request has its canonical form.
      const requested = input instanceof Request ? input.url : String(input);
      const verdict = judgeUrl(requested, use.rules);
      if (verdict.decision === 'deny')
        throw account.begin(use, init?.method ?? 'GET', requested).fail(refusedBy(verdict, requested));
      const request = new Request(input, init);
      const how = { isRoutine: use.isRoutine?.(init) === true, stopped: request.signal };
      const exchange = account.begin(use, request.method, request.url, how);
      try {
        return counted(await followed(request, exchange, { agent, rules: use.rules, limits }), exchange);
      } catch (error) {
        throw exchange.fail(error);
      }
    },
    connect(url, headers, signal) {
      const verdict = judgeUrl(url, use.rules);
      const exchange = account.begin(use, 'GET', url, { stopped: signal });
      if (verdict.decision === 'deny') throw exchange.fail(refusedBy(verdict, url));
      const opened = openSocket(agent, exchange, headers, signal);
      sockets.push(opened);
      return opened;
    },
    async dial(url, signal) {
      const exchange = account.begin(use, 'CONNECT', url, { stopped: signal });
      const late = limits.totalMs === undefined ? [] : [AbortSignal.timeout(limits.totalMs)];
      const made = await dial(connector, exchange, AbortSignal.any([signal, ...late]));
      dialled.push(made);
      return made.socket;
    },
    async close() {
      for (const { end } of [...dialled, ...sockets]) end();
      await agent.destroy();
      await account.settled();
    },
  };
}

interface Way {
  readonly agent: Agent;
  readonly rules: UrlRules;
  readonly limits: EgressLimits;
}

/** The answer that the redirects lead to. */
async function followed(
  first: Request,
  exchange: Exchange,
  { agent, rules, limits }: Way,
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

function counted({ status, statusText, headers, body }: Response, exchange: Exchange): Response {
  if (!body) void exchange.end(null);
  const stream = body ? ReadableStream.from(countedBody(body, exchange)) : null;
  const answer = new Response(stream, { status, statusText, headers });
  // Where it was found in the end; the constructor has no way to say it.
  Object.defineProperty(answer, 'url', { value: exchange.url });
  return answer;
}

/** Up to the bound: also what a small body grows to when it is decompressed. */
async function* countedBody(body: AsyncIterable<Uint8Array>, exchange: Exchange): AsyncGenerator<Uint8Array> {
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
    // Its reader has had enough.
    void exchange.end('stopped');
  }
}
