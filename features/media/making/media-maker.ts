/** What a provider of media does, whatever it speaks, and why it did not. */
import { AISDKError, APICallError, NoImageGeneratedError } from 'ai';
import type { MediaKind, MediaRequest } from '../contract.ts';
import { isRecord } from '#domain/outside-value.ts';
import { SecretProblem } from '#domain/secret.ts';
import { type EgressClient, EgressError } from '@tempoclaw/egress';
import { retryAfterMs } from '#activities/model/model-error.ts';

/** How one is reached for a call. */
export interface MediaAccess extends Pick<EgressClient, 'fetch' | 'connect'> {
  readonly key: string;
  /** Without a slash at its end. */
  readonly base: string;
  readonly signal: AbortSignal;
}

export interface MediaAsk {
  readonly model: string;
  readonly request: MediaRequest;
}

/** Made at once, or a job that goes on at the provider under an id. */
export type Ordered = { readonly bytes: Uint8Array } | { readonly job: string };

export type Looked =
  | 'running'
  /** `seconds`: of what is paid for, where the provider says so. */
  | { readonly url: string; readonly seconds?: number | undefined }
  | { readonly failed: string };

/** In place of a job: some may be it, and do not say so yet. */
export const LATER = '(later)';

export interface MediaMaker {
  /** Asked once: whoever asks again orders again. */
  order(access: MediaAccess, ask: MediaAsk): Promise<Ordered>;
  /** Of makers that give jobs. */
  readonly jobs?: {
    /** What it gives them for. */
    readonly kinds: readonly MediaKind[];
    look(access: MediaAccess, job: string): Promise<Looked>;
    /** @throws MediaProblem where it is not taken back, since it is begun */
    cancel(access: MediaAccess, job: string): Promise<void>;
    /** The job of an order at this time (milliseconds since 1970) whose answer was lost. Absent where the provider's list does not tell it from others'. */
    find?(access: MediaAccess, ask: MediaAsk, since: number): Promise<string | undefined>;
  };
}

/** `refused`: it made nothing. `lost`: it may have. */
export class MediaProblem extends Error {
  readonly kind: 'refused' | 'lost';
  /** Of HTTP, where it answered. */
  readonly status: number | undefined;
  /** Milliseconds that it asks to wait for. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: MediaProblem['kind'], message: string, status?: number, retryAfterMs?: number) {
    super(message);
    this.name = 'MediaProblem';
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Characters of what a provider says. */
const WORDS = 300;
/** A gateway that says so has not heard of the provider behind it. */
const UNANSWERED = [502, 504];
/** Nothing has reached anybody. */
const UNREACHED = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/;

function refusal(status: number, text: string, headers: Readonly<Record<string, string>> = {}): MediaProblem {
  const kind = UNANSWERED.includes(status) ? 'lost' : 'refused';
  const hint = status === 401 || status === 403 ? ' (look at its key)' : '';
  const wait = retryAfterMs(headers, text);
  return new MediaProblem(kind, `it answered ${status}${hint}: ${words(text)}`, status, wait);
}

function words(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, WORDS) || 'without words';
}

/** Whatever is not the provider's is thrown on. */
export function mediaProblem(error: unknown): MediaProblem {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof MediaProblem) return cause;
    if (cause instanceof EgressError) {
      const isUnsent = cause.isRefused || cause.rule === 'unresolved' || UNREACHED.test(cause.message);
      return new MediaProblem(isUnsent ? 'refused' : 'lost', words(cause.message));
    }
    if (cause instanceof SecretProblem || NoImageGeneratedError.isInstance(cause))
      return new MediaProblem('refused', words(cause.message));
    if (APICallError.isInstance(cause) && (cause.statusCode ?? 0) >= 400)
      return refusal(cause.statusCode ?? 0, cause.message, cause.responseHeaders);
  }
  if (AISDKError.isInstance(error)) return new MediaProblem('lost', words(error.message));
  throw error;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** @throws MediaProblem when it answers that it does not; EgressError. */
export async function send(access: MediaAccess, path: string, sent: Sent = {}): Promise<Response> {
  const { method = sent.body === undefined ? 'GET' : 'POST', headers, body } = sent;
  const response = await access.fetch(`${access.base}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${access.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: access.signal,
  });
  if (response.ok) return response;
  throw refusal(response.status, saidIn(await response.text()), Object.fromEntries(response.headers));
}

/** The same with an answer in JSON; MiniMax says in `base_resp` what went wrong under a status of 200. */
export async function sendForJson(
  access: MediaAccess,
  path: string,
  sent?: Sent,
): Promise<Record<string, unknown>> {
  const text = await (await send(access, path, sent)).text();
  const answer = parsed(text);
  if (!isRecord(answer)) throw new MediaProblem('lost', 'its answer is no JSON object');
  const code = valueAt(answer, 'base_resp', 'status_code');
  if (code !== undefined && code !== 0)
    throw new MediaProblem('refused', `it answered ${String(code)}: ${words(saidIn(text))}`);
  return answer;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const SAID = [['error', 'message'], ['base_resp', 'status_msg'], ['detail', 'message'], ['message']] as const;

function saidIn(body: string): string {
  const answer = parsed(body);
  const lines = SAID.map((path) => valueAt(answer, ...path));
  return lines.find((found) => typeof found === 'string') ?? body;
}

export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (Array.isArray(at)) return at[Number(step)];
    return isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }, value);
}

/** @throws MediaProblem when it is not there: the provider did something else. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = valueAt(value, ...path);
  if (typeof found === 'string' && found !== '') return found;
  throw new MediaProblem('lost', `its answer has no ${path.join('.')}`);
}
