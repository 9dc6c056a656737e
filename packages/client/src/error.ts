/** Why a request was not done. */
import { REMEDIES } from './remedies.ts';

/** A problem of RFC 9457 as the API sends it. */
export interface Problem {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly request_id?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly message?: string }[];
  /** Fields of one code, such as `first_id` of EventsTrimmed. */
  readonly [field: string]: unknown;
}

/** Codes of the client itself. Their status is 0, because no answer of the API says them. */
const OWN_REMEDIES = {
  Unreachable: 'Check the address, and that TempoClaw runs and lets this origin in.',
  TimedOut: 'Try again, or raise `timeoutMs`. Use the same `idempotencyKey`, because it may have been done.',
  InvalidAnswer: 'Check that the address is the one of TempoClaw and not of a page in front of it.',
  TooLargeAnswer: 'Raise `maxBytes`, or read less.',
  InvalidRequest: 'Correct what the message names.',
} as const;

/** Far more than a problem has. What a wrong server sends as one is cut. */
const MAX_TEXT = 2_000;

/** What the API refused, or why there is no answer. An abort of your own signal is rethrown as it is, and is none of these. */
export class TempoClawError extends Error {
  override readonly name = 'TempoClawError';
  /** Stable: a code of the API, `Http…` where the API did not answer itself, or a code of the client. */
  readonly code: string;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** What to do about it. */
  readonly remedy: string;
  /** Milliseconds after which the same request may succeed. */
  readonly retryAfterMs: number | undefined;
  /** Everything that the API said. */
  readonly problem: Problem;

  constructor(
    code: string,
    message: string,
    {
      status = 0,
      problem = {},
      retryAfterMs,
      cause,
    }: { status?: number; problem?: Problem; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message.slice(0, MAX_TEXT), { cause });
    this.code = code;
    this.status = status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
    this.remedy = { ...REMEDIES, ...OWN_REMEDIES }[code] ?? remedyOf(status);
  }
}

function remedyOf(status: number): string {
  if (status >= 300 && status < 400) return 'Use the address that this one leads to.';
  return status < 500 ? OWN_REMEDIES.InvalidAnswer : 'Try again later.';
}

/** `text` is the body of an answer that is not 2xx. */
export function refusal(response: Response, text: string): TempoClawError {
  let problem: Problem = {};
  try {
    const sent: unknown = JSON.parse(text);
    if (typeof sent === 'object' && sent !== null) problem = sent as Problem;
  } catch {
    // A proxy answers with a page of its own.
  }
  const { code, title, detail, errors } = problem;
  const { status } = response;
  const head = [detail, title].find(isText) ?? `The request was answered with HTTP ${status}`;
  const fields = (Array.isArray(errors) ? (errors as readonly unknown[]) : []).map(fieldText);
  const message = [head, ...fields.filter((line) => line !== '' && line !== head)].join(' · ');
  const seconds = Number(response.headers.get('retry-after'));
  const retryAfterMs = seconds > 0 ? seconds * 1_000 : undefined;
  return new TempoClawError(isText(code) ? code : `Http${status}`, message, {
    status,
    problem,
    retryAfterMs,
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function fieldText(field: unknown): string {
  const { pointer, message } = (field ?? {}) as { readonly pointer?: unknown; readonly message?: unknown };
  return [pointer, message].filter(isText).join(': ');
}
