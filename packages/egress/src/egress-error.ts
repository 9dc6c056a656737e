/** Why an exchange failed, in words for the caller. */
import type { UrlDenied, UrlRule } from './rules/judge-url.ts';

/** A problem of the rules, or of the exchange itself. */
export type EgressProblem = UrlRule | 'redirects' | 'too_large' | 'timeout' | 'unreachable' | 'stopped';

export class EgressError extends Error {
  readonly rule: EgressProblem;
  /** The rules forbid it, and nothing was sent. */
  readonly isRefused: boolean;

  constructor(rule: EgressProblem, message: string, isRefused = false) {
    super(message);
    this.name = 'EgressError';
    this.rule = rule;
    this.isRefused = isRefused;
  }
}

export function refusedBy({ rule, reason }: UrlDenied, url: string): EgressError {
  return new EgressError(rule, `${url.slice(0, 300)} may not be asked: ${reason}`, rule !== 'unresolved');
}

/** Characters of a host that a page chose. */
const HOST = 80;

/**
 * A refused redirect. Its address comes from the answering server, so the error contains only its host and the rule's
 * reason.
 */
export function refusedRedirect({ rule, reason }: UrlDenied, url: string): EgressError {
  const host = hostOf(url);
  const why = reason.replaceAll(host, 'it').slice(0, 150);
  return new EgressError(
    rule,
    `it leads on to ${host.slice(0, HOST)}, which may not be asked: ${why}`,
    rule !== 'unresolved',
  );
}

function hostOf(url: string): string {
  const host = URL.parse(url)?.host;
  return host === undefined ? 'an address that is none' : host || 'an address without a host';
}

/** Converts an error of an exchange. `stopped` is the caller's own signal. */
export function egressErrorOf(
  error: unknown,
  url: string,
  stopped: AbortSignal | undefined,
  limits: { readonly totalMs: number | undefined; readonly idleMs: number },
): EgressError {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof EgressError) return cause;
  const host = hostOf(url).slice(0, HOST);
  if (stopped?.aborted) return new EgressError('stopped', `the request to ${host} was stopped`);
  const cause = innermost(error);
  if (isTimeout(cause)) {
    const seconds = (limits.totalMs ?? limits.idleMs) / 1000;
    return new EgressError('timeout', `${host} did not answer whole within ${seconds} s`);
  }
  return new EgressError(
    'unreachable',
    `${host} cannot be reached: ${wordsOf(cause).slice(0, 200) || 'the connection failed'}`,
  );
}

/** OpenSSL puts its reason between a number and the place in its source. */
function wordsOf({ message }: Error): string {
  const reason = /:error:\w+:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1];
  return reason === undefined ? message : `its TLS failed: ${reason}`;
}

function innermost(error: unknown): Error {
  let inner = error instanceof Error ? error : new Error(String(error));
  while (inner.cause instanceof Error) inner = inner.cause;
  if (inner instanceof AggregateError && inner.errors[0] instanceof Error) return inner.errors[0];
  return inner;
}

function isTimeout({ name, code }: Error & { readonly code?: unknown }): boolean {
  return name === 'TimeoutError' || (typeof code === 'string' && /TIMEOUT|ETIMEDOUT/.test(code));
}

/** Whether certainly nothing has reached the other side. */
export function isUnsent(error: unknown): boolean {
  return (
    error instanceof EgressError &&
    (error.isRefused || error.rule === 'unresolved' || /ECONNREFUSED|bad port/.test(error.message))
  );
}
