/**
 * Converts a provider's failure into a ModelError: whether the same request may succeed later, after how long, and what
 * a person can do. It contains nothing of the request: SDK errors contain headers and prompts, so no `cause` is set.
 */
import { APICallError } from 'ai';
import { ModelError, type ModelErrorCode } from '#domain/model/model.ts';
import { readRetryAfter } from '#domain/net/retry-after.ts';
import { codeOfStatus } from './status-code.ts';

export interface ErrorContext {
  readonly provider: string;
  readonly model: string;
  /** Removed from every message. */
  readonly apiKey: string | undefined;
}

/** Greatest length of a provider's message; some send whole HTML pages. */
const MAX_WORDS = 600;
/** A provider that requires more than a day is reported, not awaited. */
const MAX_WAIT_MS = 86_400_000;

/**
 * Each provider's text for a prompt that does not fit: OpenAI, Anthropic, Gemini, llama.cpp, vLLM, Ollama, DashScope,
 * MiniMax.
 */
const OVERFLOW =
  /context_length_exceeded|exceed_context_size|maximum context length|context window|prompt is too long|exceed(s|ed)? (the )?(available )?context|input token count.*exceeds|range of input length|input (is|length is) too long|too many (input )?tokens|request_too_large/i;
const FILTERED =
  /content[_ -]?(filter|policy|management)|data_inspection_failed|responsible ai|blocked by.*safety|prohibited[_ ]content|sensitive content/i;
const BAD_KEY =
  /api[_ ]key[_ ](not valid|invalid)|invalid[_ ]api[_ ]key|incorrect api key|authentication[_ ]error|invalid x-api-key|unauthenticated/i;
const NO_CREDIT =
  /insufficient[_ ](quota|credits?|balance)|credit balance is too low|billing[_ ](hard[_ ]limit|not[_ ]active)|payment required/i;
const NO_MODEL =
  /model[_ ]not[_ ]found|not a valid model|unknown model|model\b.{0,120}\b(does not exist|not found|is not (supported|available))|no such model/i;
const BUSY =
  /overloaded|server[_ ]error|internal[_ ]error|service unavailable|temporarily unavailable|try again later|unavailable/i;
const LIMITED = /rate[_ ]limit|too many requests|resource[_ ]exhausted|throttl/i;

const TIMEOUT_CODES = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);
const NETWORK =
  /fetch failed|terminated|cannot connect|socket|network|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|other side closed/i;
const NETWORK_CODES =
  /^(ECONN|ENOTFOUND|EAI_|EPIPE|EHOST|ENET|UND_ERR_|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS)/;

/** Converts anything that `ai` or fetch threw into a ModelError. ModelErrors pass unchanged. */
export function toModelError(thrown: unknown, context: ErrorContext): ModelError {
  for (const error of chain(thrown)) if (error instanceof ModelError) return error;
  if (APICallError.isInstance(thrown) && thrown.statusCode !== undefined && thrown.statusCode >= 400) {
    return ofResponse(thrown, thrown.statusCode, context);
  }
  const where = `${context.provider} (${context.model})`;
  const network = ofNetwork(thrown, where, context);
  if (network) return network;
  // A structure that is too deep to walk; another answer would hardly differ.
  if (thrown instanceof RangeError)
    return new ModelError('TooLarge', `${where} gave an answer that is nested too deep`);
  const words = errorText(thrown);
  // An error inside a stream has no status of its own, although some contain one.
  const status = Number(field(thrown, 'statusCode') || field(thrown, 'code'));
  const known = codeOfWords(words) ?? (status >= 400 && status < 600 ? codeOfStatus(status) : undefined);
  if (known) return new ModelError(known, say(`${where} failed: ${words}`, context));
  if (NETWORK.test(words))
    return new ModelError('Unreachable', say(`The connection to ${where} broke: ${words}`, context));
  return new ModelError(
    'BadAnswer',
    say(`${where} gave an answer that could not be used: ${words}`, context),
  );
}

/** Errors of sockets, names and certificates, by Node's error code. */
function ofNetwork(thrown: unknown, where: string, context: ErrorContext): ModelError | undefined {
  const codes = chain(thrown).map((error) => field(error, 'code'));
  const code = codes.find((found) => NETWORK_CODES.test(found) || TIMEOUT_CODES.has(found));
  if (!code) return undefined;
  if (TIMEOUT_CODES.has(code)) {
    return new ModelError('Timeout', say(`${where} did not answer in time (${code}).`, context));
  }
  const hint = 'Check the base URL and the network.';
  return new ModelError('Unreachable', say(`The connection to ${where} failed (${code}). ${hint}`, context));
}

function ofResponse(error: APICallError, status: number, context: ErrorContext): ModelError {
  const body = error.responseBody ?? '';
  const words = error.message || body;
  const code = codeOfResponse(status, `${words}\n${body.slice(0, 10_000)}`);
  const requested = retryAfterMs(error.responseHeaders ?? {}, body);
  const should = error.responseHeaders?.['x-should-retry'];
  const request = error.responseHeaders?.['x-request-id'] ?? error.responseHeaders?.['request-id'];
  const text = `${context.provider} (${context.model}) answered ${status}: ${words}${request ? ` [request ${request}]` : ''}`;
  return new ModelError(code, say(text + remedy(code, context), context), {
    retryAfterMs: requested,
    retryable: should === 'true' || should === 'false' ? should === 'true' : undefined,
  });
}

/** The status decides, except when a provider's text is more specific than its status. */
function codeOfResponse(status: number, words: string): ModelErrorCode {
  if (status >= 500) return codeOfStatus(status);
  if (status === 402 || NO_CREDIT.test(words)) return 'Auth';
  if (status === 429 || status === 401 || status === 403 || status === 408) return codeOfStatus(status);
  if (OVERFLOW.test(words)) return 'ContextOverflow';
  if (BAD_KEY.test(words)) return 'Auth';
  if (FILTERED.test(words)) return 'Filtered';
  if (NO_MODEL.test(words)) return 'UnknownModel';
  return codeOfStatus(status);
}

function codeOfWords(words: string): ModelErrorCode | undefined {
  if (NO_CREDIT.test(words) || BAD_KEY.test(words)) return 'Auth';
  if (OVERFLOW.test(words)) return 'ContextOverflow';
  if (LIMITED.test(words)) return 'RateLimited';
  if (FILTERED.test(words)) return 'Filtered';
  if (NO_MODEL.test(words)) return 'UnknownModel';
  return BUSY.test(words) ? 'Overloaded' : undefined;
}

function remedy(code: ModelErrorCode, { provider }: ErrorContext): string {
  if (code === 'Auth') return ` Check models.providers.${provider}.apiKey and the account's credit.`;
  if (code === 'UnknownModel') return ` Check the model's name and models.providers.${provider}.baseUrl.`;
  return '';
}

/**
 * Milliseconds from `retry-after-ms`, `retry-after` (seconds or a date) or Gemini's `retryDelay`; undefined when none
 * is present.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, body: string): number | undefined {
  const exact = Number(headers['retry-after-ms'] || Number.NaN);
  if (Number.isFinite(exact)) return bounded(exact);
  const wait = readRetryAfter(headers['retry-after'], Date.now());
  if (wait !== undefined) return bounded(wait);
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? undefined : bounded(Number(delay) * 1000);
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_WAIT_MS);
}

/** An error and its causes, outermost first; at most five, because causes can be circular. */
function chain(thrown: unknown): unknown[] {
  const errors: unknown[] = [];
  let next: unknown = thrown;
  while (next !== undefined && next !== null && errors.length < 5) {
    errors.push(next);
    next = typeof next === 'object' && 'cause' in next ? next.cause : undefined;
  }
  return errors;
}

function field(value: unknown, name: string): string {
  const found = property(value, name);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}

/** Type, code and message of anything thrown: errors, and the plain objects in streams. */
function errorText(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  const parts = [field(thrown, 'type'), field(thrown, 'code'), field(thrown, 'message')].filter(Boolean);
  const inner = property(thrown, 'error') ?? property(property(thrown, 'response'), 'error');
  if (inner) parts.push(errorText(inner));
  return parts.join(': ') || 'an error without words';
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A message that may be shown: one line, bounded, and without anything that looks like a key. */
function say(text: string, { apiKey }: ErrorContext): string {
  const bare = apiKey && apiKey.length >= 4 ? text.replaceAll(apiKey, '[REDACTED]') : text;
  return bare
    .replace(/\b(sk|pk|rk|gsk|AIza)[-_]?[\w*-]{8,}/g, '[REDACTED]')
    .replace(/\bBearer\s+\S+/gi, 'Bearer [REDACTED]')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_WORDS);
}
