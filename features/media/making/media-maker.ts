/** What a provider of media does, whatever its protocol, and why it failed. */
import { AISDKError, APICallError, NoImageGeneratedError } from 'ai';
import type { MediaKind, MediaRequest } from '../contract.ts';
import { isRecord } from '#domain/outside-value.ts';
import { SecretProblem } from '#domain/secret.ts';
import { type EgressClient, EgressError } from '@tempoclaw/egress';
import { retryAfterMs } from '#activities/model/model-error.ts';

/** How a provider is reached for a call. */
export interface MediaAccess extends Pick<EgressClient, 'fetch' | 'connect'> {
  readonly key: string;
  /** The base URL without a slash at its end. */
  readonly base: string;
  readonly signal: AbortSignal;
}

export interface MediaAsk {
  readonly model: string;
  readonly request: MediaRequest;
}

/** A finished result, or a job that continues at the provider under an id. */
export type Ordered = { readonly bytes: Uint8Array } | { readonly job: string };

export type JobState =
  | 'running'
  /** `seconds` is the paid duration, if the provider reports it. */
  | { readonly url: string; readonly seconds?: number | undefined }
  | { readonly failed: string };

/** Stands for the id of a job that cannot be identified yet, because several candidates do not show their request. */
export const LATER = '(later)';

export interface MediaMaker {
  /** Must be called once, because a repeat orders again. */
  order(access: MediaAccess, ask: MediaAsk): Promise<Ordered>;
  /** Only for providers that make jobs. */
  readonly jobs?: {
    /** The kinds for which it makes jobs. */
    readonly kinds: readonly MediaKind[];
    look(access: MediaAccess, job: string): Promise<JobState>;
    /** @throws MediaProblem if it is not cancelled, because it has started */
    cancel(access: MediaAccess, job: string): Promise<void>;
    /**
     * The job of an order at this time (milliseconds since 1970) whose answer was lost. Absent if the provider's list
     * does not distinguish it from others.
     */
    find?(access: MediaAccess, ask: MediaAsk, since: number): Promise<string | undefined>;
  };
}

/** `refused` means that it made nothing. `lost` means that it may have. */
export class MediaProblem extends Error {
  readonly kind: 'refused' | 'lost';
  /** HTTP status, if it answered. */
  readonly status: number | undefined;
  /** Milliseconds that it requests to wait for. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: MediaProblem['kind'], message: string, status?: number, retryAfterMs?: number) {
    super(message);
    this.name = 'MediaProblem';
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Characters of a provider's message. */
const WORDS = 300;
/** A gateway with these statuses got no answer from the provider behind it. */
const UNANSWERED = [502, 504];
/** Errors with which the request reached no server. */
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

/** Rethrows whatever is not the provider's. */
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

/** @throws MediaProblem when the provider refuses; EgressError. */
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
  throw refusal(response.status, messageIn(await response.text()), Object.fromEntries(response.headers));
}

/** Does the same with an answer in JSON; MiniMax reports errors in `base_resp` under status 200. */
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
    throw new MediaProblem('refused', `it answered ${String(code)}: ${words(messageIn(text))}`);
  return answer;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const MESSAGE_PATHS = [
  ['error', 'message'],
  ['base_resp', 'status_msg'],
  ['detail', 'message'],
  ['message'],
] as const;

function messageIn(body: string): string {
  const answer = parsed(body);
  const lines = MESSAGE_PATHS.map((path) => valueAt(answer, ...path));
  return lines.find((found) => typeof found === 'string') ?? body;
}

export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((at, step) => {
    if (Array.isArray(at)) return at[Number(step)];
    return isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }, value);
}

/** @throws MediaProblem when it is missing, because the provider did something else. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = valueAt(value, ...path);
  if (typeof found === 'string' && found !== '') return found;
  throw new MediaProblem('lost', `its answer has no ${path.join('.')}`);
}
