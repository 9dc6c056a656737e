/**
 * The command line's HTTP client: it sends and receives JSON, reads problem+json as errors, and retries while the API
 * restarts.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from './cli-error.ts';
import { type Sent, sendTo } from './send-to.ts';
import type { Target } from './target.ts';

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Client {
  /** Throws an ApiError for an answer that is not 2xx, a CliError when nobody answers. */
  get<T>(path: string, query?: Query): Promise<T>;
  /** Sends an Idempotency-Key, so that a retry cannot do it twice. */
  post<T>(path: string, body: unknown, query?: Query): Promise<T>;
  /** Sends a request with any method. */
  send(method: string, path: string, body: unknown, query?: Query): Promise<unknown>;
  /** Transfers raw bytes both ways; throws as `get` does, and does not retry. */
  raw(method: 'GET' | 'POST' | 'PUT', path: string, request: RawRequest): Promise<Response>;
  /** Opens an event stream; throws as `get` does, and does not retry. */
  stream(path: string, query: Query, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
  target(): Target;
}

export interface RawRequest {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** A problem of RFC 9457 as the API sends it. */
export interface Problem {
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly request_id?: string;
  /** The scope that the key lacks. */
  readonly scope?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly message?: string }[];
}

export class ApiError extends CliError {
  readonly status: number;
  readonly problem: Problem;
  /** Milliseconds, as its Retry-After says. */
  retryAfter: number | undefined;

  constructor(status: number, problem: Problem, remedy: string | undefined) {
    super(problemText(status, problem), { code: problem.code ?? `Http${status}`, remedy });
    this.status = status;
    this.problem = problem;
  }

  override forPrograms(): { readonly message: string } {
    const { request_id: request, errors } = this.problem;
    const facts = { message: headOf(this.problem), status: this.status, request_id: request, errors };
    return facts;
  }
}

/** The request of one try, to which the key is added. */
type Init = Pick<Sent, 'body' | 'signal'> & { readonly headers: Readonly<Record<string, string>> };

/** How long a call is retried: a restart of the API and of Temporal's client takes a few seconds. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 500;
/** `?wait=` is at most 300 s; after this time, no answer will come. */
const TIMEOUT_MS = 320_000;
const TRY_AGAIN = new Set(['Unavailable', 'IdempotencyInFlight', 'RateLimited']);

/** `retarget` returns the address again after a lost connection, because a restarted API may have another port. */
export function createClient(first: Target, retarget: () => Target = () => first): Client {
  let target = first;
  let hasAnswered = false;

  async function once(method: string, path: string, init: Init, query: Query = {}): Promise<Response> {
    const url = new URL(target.url + path);
    for (const [name, value] of Object.entries(query))
      for (const one of [value ?? []].flat()) url.searchParams.append(name, String(one));
    const headers = new Headers(init.headers);
    if (target.key !== undefined) headers.set('authorization', `Bearer ${target.key}`);
    let response: Response;
    try {
      response = await sendTo(target, url, { ...init, method, headers });
    } catch (error) {
      if (init.signal?.aborted && init.signal.reason !== undefined && !isTimeout(init.signal.reason))
        throw init.signal.reason;
      throw unreachable(target, error);
    }
    hasAnswered = true;
    if (!response.ok) throw await refusal(response, target);
    return response;
  }

  async function send(method: string, path: string, body: unknown, query?: Query): Promise<unknown> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (method === 'POST') headers['idempotency-key'] = randomUUID();
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const response = await once(method, path, { headers, body: JSON.stringify(body), signal }, query);
        const text = await response.text();
        return text === '' ? undefined : JSON.parse(text);
      } catch (error) {
        const pause = pauseBefore(error, method, hasAnswered);
        if (pause === undefined || Date.now() + pause > until) throw error;
        await sleep(pause);
        target = retarget();
      }
    }
  }

  return {
    get: async <T>(path: string, query?: Query) => (await send('GET', path, undefined, query)) as T,
    post: async <T>(path: string, body: unknown, query?: Query) =>
      (await send('POST', path, body, query)) as T,
    send,
    raw: (method, path, { query, headers = {}, body = null }) =>
      once(method, path, { headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) }, query),
    async stream(path, query, headers, signal) {
      target = retarget();
      return once('GET', path, { headers: { ...headers, accept: 'text/event-stream' }, signal }, query);
    },
    target: () => target,
  };
}

/** Milliseconds to wait before a retry, or undefined if a retry would not help or might do a thing twice. */
function pauseBefore(error: unknown, method: string, hasAnswered: boolean): number | undefined {
  if (error instanceof ApiError) {
    if (!TRY_AGAIN.has(error.code)) return undefined;
    return error.retryAfter ?? PAUSE_MS;
  }
  const isUnreachable = error instanceof CliError && error.code === 'Unreachable';
  return isUnreachable && hasAnswered && method !== 'PATCH' ? PAUSE_MS : undefined;
}

async function refusal(response: Response, target: Target): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  let problem: Problem = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) problem = parsed as Problem;
  } catch {
    problem = { title: `${target.url} answered with something that is not TempoClaw's` };
  }
  const error = new ApiError(response.status, problem, remedyFor(response.status, problem, target));
  const seconds = Number(response.headers.get('retry-after'));
  if (seconds > 0) error.retryAfter = seconds * 1000;
  return error;
}

function headOf({ detail, title }: Problem): string {
  return detail ?? title ?? 'The API refused the request';
}

function problemText(status: number, problem: Problem): string {
  const head = headOf(problem);
  const fields = (problem.errors ?? [])
    // The detail often has the first one already.
    .filter(
      ({ pointer = '', message = '' }) =>
        !(head.includes(message) && head.includes(pointer.split('/').at(-1) ?? '')),
    )
    .map(({ pointer = '(body)', message = '' }) => `\n  ${pointer}: ${message}`);
  const request = problem.request_id === undefined ? '' : `, request ${problem.request_id}`;
  return `${head}${fields.join('')}\n  (${problem.code ?? 'no code'}, HTTP ${status}${request})`;
}

function remedyFor(status: number, { code, scope }: Problem, target: Target): string | undefined {
  if (status === 401)
    return target.key === undefined
      ? `No key was given for ${target.url}: set TEMPOCLAW_API_KEY, or run in the folder of a running TempoClaw.`
      : 'The key is unknown, expired or revoked: give another with TEMPOCLAW_API_KEY or --api-key.';
  if (scope !== undefined)
    return `Give a key that has it, or ask an admin: npx tempoclaw api-keys create NAME --scopes ${scope}`;
  if (code === 'Unavailable')
    return 'Postgres or Temporal does not answer the API: `npx tempoclaw doctor` tells which.';
  if (status >= 500) return 'See .tempoclaw/logs/api.log.';
  return undefined;
}

function unreachable(target: Target, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code =
    (cause as NodeJS.ErrnoException).code ?? (cause instanceof Error ? cause.message : String(cause));
  return new CliError(`The API at ${target.url} (from ${target.source}) does not answer: ${code}.`, {
    code: 'Unreachable',
    remedy: 'Start it with `npm start`, or name another with --url (or TEMPOCLAW_URL).',
  });
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
