/**
 * A server with the API's contract over a socket, for tests of the command line. A turn is a list of events that the
 * test writes. The server can be cut off and return as a restarted API does.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewEvent, StoredEvent } from '#domain/event.ts';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
}

/** Undefined passes the request on to what the server does by itself. */
export type Handler = (request: Request) => Answer | undefined | Promise<Answer | undefined>;

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface FakeApi {
  readonly url: string;
  /** The same at a Unix socket, which still answers when the port is cut off. */
  readonly socket: string;
  readonly requests: Request[];
  /** The n-th request (from 1) whose path ends with this, as soon as it came. */
  came(pathEnd: string, n?: number): Promise<Request>;
  /** Adds answers of the test's own, which are tried first, the newest before the others. */
  on(handler: Handler): void;
  /** Called after a message was accepted; the test writes its turn's events. */
  onMessage(run: (turnId: string, session: string, text: string) => void): void;
  emit(session: string, turnId: string, type: NewEvent['type'], data?: Record<string, unknown>): StoredEvent;
  setTurn(turnId: string, fields: Record<string, unknown>): void;
  setApproval(id: string, fields: Record<string, unknown>): void;
  approval(id: string): Record<string, unknown> | undefined;
  /** Cuts every connection and refuses new ones until `restart`. */
  cut(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export const KEY = 'tc_testkeytestkeytestkeytestkeytestkey';
const AT = '2026-01-31T12:00:00.000Z';
const STATUS_OF = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.stopped': 'stopped',
} as const;

export async function startFakeApi(): Promise<FakeApi> {
  const feeds = new Map<string, StoredEvent[]>();
  const turns = new Map<string, Record<string, unknown>>();
  const approvals = new Map<string, Record<string, unknown>>();
  const streams = new Set<{ session: string; response: ServerResponse }>();
  const inboxes = new Set<ServerResponse>();
  /** When each approval changed: the id of its frame. */
  const changes = new Map<string, number>();
  const requests: Request[] = [];
  const lookers = new Set<() => void>();
  const handlers: Handler[] = [];
  let messageHandler: (turnId: string, session: string, text: string) => void = () => {};
  let messages = 0;
  let server: Server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'fake-api-'));
  const socket = join(folder, 's');
  const local = createServer(answer).listen(socket);
  await once(local, 'listening');

  function emit(
    session: string,
    turnId: string,
    type: NewEvent['type'],
    data: Record<string, unknown> = {},
  ): StoredEvent {
    const feed = feeds.get(session) ?? [];
    feeds.set(session, feed);
    const event: StoredEvent = {
      id: feed.length + 1,
      type,
      turn_id: turnId,
      session_key: session,
      at: AT,
      data,
    };
    feed.push(event);
    if (type in STATUS_OF)
      setTurn(turnId, { status: STATUS_OF[type as keyof typeof STATUS_OF], text: data['text'] ?? null });
    for (const stream of streams) if (stream.session === session) stream.response.write(block(event));
    return event;
  }

  function setTurn(turnId: string, fields: Record<string, unknown>): void {
    turns.set(turnId, { ...turns.get(turnId), ...fields });
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://x');
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    const request: Request = {
      method: incoming.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      headers: incoming.headers,
    };
    requests.push(request);
    for (const probe of lookers) probe();
    if (incoming.headers.authorization !== `Bearer ${KEY}`)
      return send(response, 401, problem(401, 'Unauthorized', 'This key is not known'));
    for (const handler of handlers.toReversed()) {
      const own = await handler(request);
      if (own) return send(response, own.status, own.body, own.headers);
    }
    route(request, response);
  }

  /** What the server does by itself: from method and nouns to the answer; undefined is a 404. */
  const answers: Record<string, (id: string, request: Request) => unknown> = {
    'GET sessions': (id) => {
      const feed = feeds.get(id);
      return feed && sessionRow(id, feed.length);
    },
    'GET turns': (id) => turns.get(id),
    'GET approvals': (id, { query }) => {
      if (id !== '') return approvals.get(id);
      const data = [...approvals.values()].filter((one) => one['status'] === query.get('status'));
      return { data, has_more: false, next_cursor: null };
    },
    'POST sessions/messages': (id, { body }) => {
      messages += 1;
      const [turnId, messageId] = [`turn_${messages}`, `msg_${messages}`];
      setTurn(turnId, turnRow(turnId, id));
      if (!feeds.has(id)) feeds.set(id, []);
      // This runs after the answer, as the worker would.
      setImmediate(() => messageHandler(turnId, id, String(body['text'])));
      return { session_key: id, turn_id: turnId, message_id: messageId, workflow_id: '', ahead: 0 };
    },
    'POST sessions/stop': (id, { body }) => ({
      session_key: id,
      turn_id: body['turn_id'] ?? 'turn_1',
      level: body['level'],
    }),
    'POST sessions/steer': (id, { body }) => ({
      session_key: id,
      turn_id: body['turn_id'],
      message_id: 'msg_steer',
      workflow_id: '',
      ahead: 0,
    }),
    'POST approvals/decision': (id, { body: { decision } }) => {
      const status = decision === 'reject' ? 'denied' : 'approved';
      changeApproval(id, { ...approvals.get(id), status, decision });
      return { approval_id: id, status, decision, decided_by: 'key:test', decided_at: AT };
    },
  };

  function route(request: Request, response: ServerResponse): void {
    const [, , noun = '', id = '', part = ''] = request.path.split('/').map(decodeURIComponent);
    if (part === 'events' && feeds.has(id)) return stream(request, response, id);
    if (request.path === '/v1/approvals/events') return inbox(request, response);
    const body = answers[`${request.method} ${noun}${part ? `/${part}` : ''}`]?.(id, request);
    if (body === undefined) send(response, 404, problem(404, 'NotFound', `No such thing: ${id}`));
    else send(response, 200, body);
  }

  function stream(request: Request, response: ServerResponse, session: string): void {
    const after = Number(request.headers['last-event-id'] ?? request.query.get('after') ?? 0);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 50\n\n: hello\n\n');
    for (const event of feeds.get(session) ?? []) if (event.id > after) response.write(block(event));
    const entry = { session, response };
    streams.add(entry);
    response.on('close', () => streams.delete(entry));
  }

  function changeApproval(id: string, approval: Record<string, unknown>): void {
    approvals.set(id, approval);
    changes.delete(id);
    changes.set(id, Math.max(0, ...changes.values()) + 1);
    for (const response of inboxes) response.write(approvalFrame(id));
  }

  function approvalFrame(id: string): string {
    return `id: ${changes.get(id)}\nevent: approval\ndata: ${JSON.stringify(approvals.get(id))}\n\n`;
  }

  /** Sends what is pending, or what has changed since. The last one comes again, as some do from the real server. */
  function inbox(request: Request, response: ServerResponse): void {
    const after = request.headers['last-event-id'];
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 50\n\n: hello\n\n');
    for (const [id, changed] of changes) {
      const isNew =
        after === undefined ? approvals.get(id)?.['status'] === 'pending' : changed >= Number(after);
      if (isNew) response.write(approvalFrame(id));
    }
    inboxes.add(response);
    response.on('close', () => inboxes.delete(response));
  }

  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    came: (pathEnd, n = 1) =>
      new Promise((resolve) => {
        const probe = (): void => {
          const found = requests.filter((request) => request.path.endsWith(pathEnd))[n - 1];
          if (found === undefined) return;
          lookers.delete(probe);
          resolve(found);
        };
        lookers.add(probe);
        probe();
      }),
    on: (handler) => void handlers.push(handler),
    onMessage: (run) => {
      messageHandler = run;
    },
    emit,
    setTurn,
    setApproval: (id, fields) => changeApproval(id, { ...approvalRow(id), ...fields }),
    approval: (id) => approvals.get(id),
    cut: stop,
    async restart() {
      server = createServer(answer);
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    socket,
    close: async () => {
      local.close();
      local.closeAllConnections();
      rmSync(folder, { recursive: true });
      await stop();
    },
  };
}

export function problem(status: number, code: string, detail: string): Record<string, unknown> {
  return {
    type: `/docs/errors#${code}`,
    title: code,
    status,
    detail,
    instance: '/',
    code,
    request_id: 'req_1',
    retryable: false,
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

function block(event: StoredEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export function turnRow(id: string, session: string): Record<string, unknown> {
  const usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, cost_usd: null, unpriced_calls: 1 };
  return {
    id,
    session_key: session,
    agent: 'main',
    agent_revision: 1,
    status: 'running',
    text: null,
    error: null,
    steps: 1,
    usage,
    workflow_id: `session/default/${session}`,
    links: { temporal: 'http://ui.example/x' },
    created_at: AT,
    started_at: AT,
    ended_at: null,
  };
}

function sessionRow(key: string, lastEvent: number): Record<string, unknown> {
  return {
    key,
    agent: 'main',
    status: 'idle',
    turn_id: null,
    turns: 1,
    last_event_id: lastEvent,
    workflow_id: `session/default/${key}`,
    links: { temporal: null },
    created_at: AT,
    updated_at: AT,
  };
}

function approvalRow(id: string): Record<string, unknown> {
  return {
    id,
    workflow_id: `approval/${id}`,
    status: 'pending',
    tool: 'exec',
    args: { command: 'rm -r build' },
    summary: 'exec: rm -r build',
    reason: 'not on the allowlist',
    risk: null,
    call_id: 'call_1',
    turn_id: 'turn_1',
    session_key: 's',
    agent: 'main',
    user: null,
    digest: 'd',
    decision: null,
    decided_by: null,
    decided_at: null,
    note: null,
    terms: {},
    tally: null,
    approved_by: [],
    decisions: [],
    subagent: null,
    delegation: null,
    sandbox: null,
    always: {
      allows: '/usr/bin/rm -r build',
      program: '/usr/bin/rm',
      file: '/usr/lib/rm',
      args: ['-r', 'build'],
      refused: null,
    },
    files: [{ path: 'run.sh', sha256: 'a'.repeat(64), bytes: 12, missing: false, unbound: null }],
    created_at: AT,
    expires_at: new Date(Date.now() + 120_000).toISOString(),
    links: { temporal: null },
  };
}
