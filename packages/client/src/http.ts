/** Sends one request at a time to the API: its address, its key, its limits, and what is sent again. */
import { refusal, TempoClawError } from './error.ts';

export interface ClientOptions {
  /** Where TempoClaw is, such as `https://agents.example.com` or, below a path, `https://example.com/agents`. */
  readonly url: string | URL;
  /** A key or a token; a function returns one for each request, for tokens that expire. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Milliseconds that one try may take, beside the `wait` of the request (60,000). */
  readonly timeoutMs?: number;
  /** Milliseconds in which a request that failed for a moment is sent again (20,000); 0 sends it once. */
  readonly patienceMs?: number;
  /** Bytes that an answer may have (32 MiB). */
  readonly maxBytes?: number;
  /** Takes the place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions extends Pick<ClientOptions, 'timeoutMs' | 'patienceMs' | 'maxBytes'> {
  readonly signal?: AbortSignal | undefined;
  /** A request with the same key is done once; each POST has its own by default. At most 255 characters. */
  readonly idempotencyKey?: string;
}

export interface HttpRequest {
  readonly method: string;
  /** Relative to the address of TempoClaw, without a slash at its beginning. */
  readonly address: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Http {
  /** Resolves with an answer that is 2xx and whose body is unread. Sends once, and has no time limit. */
  open(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response>;
  /** Resolves with the parsed answer. Sends again what may succeed in a moment and cannot be done twice. */
  send(request: HttpRequest, options?: RequestOptions): Promise<unknown>;
}

const DEFAULTS = { timeoutMs: 60_000, patienceMs: 20_000, maxBytes: 32 * 1024 * 1024 };
/** Bytes of a refusal that are read. */
const MAX_REFUSAL = 256 * 1024;
const PAUSE_MS = 500;
/** An API that is back is noticed within this time. */
const MAX_PAUSE_MS = 5_000;
/** What can be sent in a header as it is. */
const KEY = /^[\x21-\x7e]{1,16384}$/;

export function createHttp(client: ClientOptions): Http {
  const base = baseOf(client.url);
  const { apiKey, fetch: send = fetch } = client;
  let hasAnswered = false;

  async function open(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    const { method, address, body, headers } = request;
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    // What fetch says about a wrong header contains its value.
    if (key !== undefined && !KEY.test(key))
      throw invalid('The API key is empty, or has spaces or line breaks');
    const content = body === undefined ? undefined : contentOf(body);
    let response: Response;
    try {
      response = await send(new URL(address, base), {
        method,
        redirect: 'manual',
        headers: {
          accept: 'application/json',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...content?.headers,
          ...headers,
        },
        ...(content && { body: content.body }),
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw new TempoClawError('Unreachable', `${base.origin} does not answer`, { cause: error });
    }
    hasAnswered = true;
    if (response.ok) return response;
    const refused = await readBytes(response, MAX_REFUSAL).catch(() => new Uint8Array());
    throw refusal(response, new TextDecoder().decode(refused));
  }

  async function once(request: HttpRequest, options: RequestOptions & typeof DEFAULTS): Promise<unknown> {
    const { signal, timeoutMs, maxBytes } = options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    try {
      const response = await open(request, either);
      return parse(response, await readBytes(response, maxBytes));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (timeout.aborted)
        throw new TempoClawError('TimedOut', `${base.origin} did not answer within ${timeoutMs} ms`);
      throw error;
    }
  }

  return {
    open,
    async send(request, options = {}) {
      const all = { ...DEFAULTS, ...defined(client), ...defined(options) };
      const isPost = request.method === 'POST';
      const marked = isPost ? withKey(request, options.idempotencyKey ?? randomId()) : request;
      const until = Date.now() + all.patienceMs;
      for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
        all.signal?.throwIfAborted();
        try {
          return await once(marked, all);
        } catch (error) {
          const ms = pauseAfter(error, request.method, pause);
          // An address that has never answered is more often wrong than away.
          if (ms === undefined || !hasAnswered || Date.now() + ms > until) throw error;
          await sleep(ms, all.signal);
        }
      }
    },
  };
}

/** An address without a slash at its end would lose its last part. */
function baseOf(url: string | URL): URL {
  let base: URL;
  try {
    base = new URL(url);
  } catch {
    throw invalid(
      `url: ${JSON.stringify(String(url).slice(0, 200))} is no address; it begins with https:// or http://`,
    );
  }
  if (!/^https?:$/.test(base.protocol)) throw invalid('url: only https:// and http:// are served');
  if (base.username !== '' || base.password !== '') throw invalid('url: it contains a password; use apiKey');
  base.pathname = base.pathname.replace(/\/*$/, '/');
  base.search = '';
  base.hash = '';
  return base;
}

export function invalid(message: string): TempoClawError {
  return new TempoClawError('InvalidRequest', message);
}

/** Milliseconds after which the same may succeed; undefined where it would not, or might be done twice. */
export function pauseAfter(error: unknown, method: string, pause: number): number | undefined {
  if (!(error instanceof TempoClawError)) return undefined;
  const { status, retryAfterMs = pause, code, problem } = error;
  // A caller that sends `mode: reject` asks for this answer.
  if (code === 'SessionBusy') return undefined;
  if (typeof problem['retryable'] === 'boolean') return problem['retryable'] ? retryAfterMs : undefined;
  if (status === 429) return retryAfterMs;
  const passes = code === 'Unreachable' || [502, 503, 504].includes(status);
  return passes && method !== 'PATCH' ? retryAfterMs : undefined;
}

function withKey(request: HttpRequest, key: string): HttpRequest {
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalid('idempotencyKey: it has 1 to 255 printable characters of ASCII');
  return { ...request, headers: { ...request.headers, 'idempotency-key': key } };
}

function contentOf(body: unknown): { body: Blob | string; headers: Record<string, string> } {
  if (body instanceof Blob)
    return { body, headers: { 'content-type': body.type || 'application/octet-stream' } };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

async function readBytes(response: Response, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const { status } = response;
  let size = 0;
  const reader = response.body?.getReader();
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      size += read.value.length;
      if (size > limit)
        throw new TempoClawError('TooLargeAnswer', `The answer has more than ${limit} bytes`, { status });
      chunks.push(read.value);
    }
  } catch (cause) {
    if (cause instanceof TempoClawError) throw cause;
    throw new TempoClawError('Unreachable', 'The connection ended in the middle of an answer', { cause });
  } finally {
    reader?.cancel().catch(() => undefined);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function parse(response: Response, bytes: Uint8Array<ArrayBuffer>): unknown {
  const type = response.headers.get('content-type') ?? '';
  if (bytes.length === 0 && type === '') return undefined;
  // A file is what it is, whatever its type says of its contents.
  if (response.headers.has('content-disposition')) return new Blob([bytes], { type });
  // The API answers no requests of programs with pages: this one is of something in front of it, or elsewhere.
  if (type.startsWith('text/html'))
    throw new TempoClawError('InvalidAnswer', 'The answer is a page of HTML', { status: response.status });
  if (type.startsWith('text/')) return new TextDecoder().decode(bytes);
  if (!type.startsWith('application/json')) return new Blob([bytes], { type });
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new TempoClawError('InvalidAnswer', 'The answer is not the JSON that it says it is', {
      status: response.status,
      cause,
    });
  }
}

/** Resolves early, without an error, when the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
  });
}

/** `crypto.randomUUID` is missing where a page was not loaded over TLS. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** An option that is set to undefined is not set. */
function defined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}
