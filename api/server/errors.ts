/** Maps every error to application/problem+json (RFC 9457) with a code of domain/errors.ts. */
import { plainWords, withoutSizes } from '#domain/schema/problem-words.ts';
import type { FastifyError, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors, isResponseSerializationError } from 'fastify-type-provider-zod';
import { isTransient } from '#store/postgres/pool.ts';
import { FAILURES, Failure, type FailureType } from '#domain/errors.ts';
import type { Problem } from '#domain/schema/problem.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** Seconds to wait, for failures that do not state it themselves. */
const RETRY_AFTER: Partial<Record<FailureType, number>> = {
  Unavailable: 2,
  TenantFrozen: 30,
  IdempotencyInFlight: 1,
  SessionBusy: 1,
  QueueFull: 2,
  RateLimited: 1,
};

/** Details that have a field of their own in a problem, or that the body must not contain. */
const RESERVED = new Set([
  'errors',
  'retry_after',
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'request_id',
  'retryable',
]);

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
  /** True for an error of ours, which is logged in full. */
  readonly isBug: boolean;
}

/** Never throws, and never shows the words of an error that we did not write for callers. */
export function toProblem(error: unknown, request: Pick<FastifyRequest, 'id' | 'url'>): ProblemAnswer {
  const failure = toFailure(error);
  const row = FAILURES[failure.type];
  const extra = Object.entries(failure.details).filter(([name]) => !RESERVED.has(name));
  const errors = failure.details['errors'];
  const value = failure.details['retry_after'];
  const retryAfter = typeof value === 'number' ? value : RETRY_AFTER[failure.type];
  return {
    status: row.status,
    headers: {
      'content-type': `${PROBLEM_TYPE}; charset=utf-8`,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...(failure.type === 'Unauthorized' ? { 'www-authenticate': 'Bearer realm="tempoclaw"' } : {}),
    },
    body: {
      type: `/docs/errors#${failure.type}`,
      title: row.title,
      status: row.status,
      detail: failure.message,
      instance: pathOf(request.url),
      code: failure.type,
      request_id: request.id,
      retryable: row.retryable,
      errors: Array.isArray(errors) ? (errors as { pointer: string; message: string }[]) : undefined,
      ...Object.fromEntries(extra),
    },
    isBug: failure.type === 'Internal',
  };
}

function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return invalid(error);
  if (isTransient(error))
    return new Failure('Unavailable', 'The database does not answer; try again in a moment');
  if (error instanceof Error && isResponseSerializationError(error)) return internal();
  return fromFastify(error) ?? fromPostgres(error) ?? internal();
}

function internal(): Failure {
  return new Failure('Internal', 'Something of ours went wrong; the log has it under this request_id');
}

interface Issue {
  readonly instancePath: string;
  /** What kind of problem it is, as the library names it. */
  readonly keyword?: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Of one of several shapes. */
interface InnerIssue extends Readonly<Record<string, unknown>> {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Names of unknown fields are the caller's own words, so long ones are cut. */
function invalid(
  error: Pick<FastifyError, 'validationContext'> & { readonly validation: readonly Issue[] },
): Failure {
  const where = error.validationContext === 'querystring' ? 'query' : (error.validationContext ?? 'body');
  const issues = withoutSizes(
    error.validation.flatMap(ofMeantShape),
    ({ instancePath }) => instancePath,
    ({ keyword }) => keyword === 'invalid_type',
  );
  const errors = issues
    .flatMap((issue) =>
      fieldsOf(issue).map((path) => ({
        pointer: `${where}${path}`.slice(0, 300),
        message: issueText(issue),
      })),
    )
    .slice(0, 50);
  const first = errors[0];
  return new Failure(
    'InvalidInput',
    first ? `${first.pointer}: ${first.message}` : 'The request is not valid',
    { errors },
  );
}

/** A field that accepts several shapes, and has one of them but for a field within: what is wrong is that field. */
function ofMeantShape(issue: Issue): readonly Issue[] {
  const either = issue.params?.['errors'];
  const meant = (Array.isArray(either) ? either : []).filter(
    (issues): issues is InnerIssue[] =>
      Array.isArray(issues) && issues.length > 0 && issues.every(({ path }: InnerIssue) => path.length > 0),
  );
  if (meant.length !== 1) return [issue];
  return (meant[0] ?? []).flatMap(({ path, message, ...params }) =>
    ofMeantShape({
      instancePath: [baseOf(issue), ...path].join('/'),
      keyword: String((params as Issue['params'])?.['code']),
      message,
      params,
    }),
  );
}

/** The library writes the whole value as a slash. */
function baseOf({ instancePath }: Issue): string {
  return instancePath === '/' ? '' : instancePath;
}

/** An unknown field is named itself, not the object that contains it. */
function fieldsOf(issue: Issue): readonly string[] {
  const base = baseOf(issue);
  const unknown = issue.params?.['keys'];
  return Array.isArray(unknown) ? unknown.map((key) => `${base}/${String(key)}`) : [base];
}

function issueText({ message, params }: Issue): string {
  if (Array.isArray(params?.['keys'])) return 'is not a known field';
  // Of a field that accepts several shapes, and of a name in a map.
  const { errors: either, issues } = params ?? {};
  const inner = Array.isArray(either) ? either : Array.isArray(issues) ? [issues] : undefined;
  const lines = inner ? wordsOfEither(inner) : [message ?? 'is not valid'];
  return [...new Set(lines.map(plainWords))].join(', or ').slice(0, 500);
}

/** For a field that accepts several shapes, lists what is wrong with it as each of them. */
function wordsOfEither(either: readonly unknown[]): readonly string[] {
  const words = either.flatMap((issues) => {
    const first: unknown = Array.isArray(issues) ? issues[0] : undefined;
    return typeof first === 'object' && first !== null && 'message' in first ? [String(first.message)] : [];
  });
  return words.length > 0 ? words : ['is not valid'];
}

const OF_FASTIFY: Readonly<Record<string, readonly [FailureType, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UnsupportedMedia', 'Send application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['InvalidInput', 'The body is not as long as content-length says'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['InvalidInput', 'The body is empty; send JSON'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['TooLarge', 'The body is larger than this server takes'],
  FST_ERR_BAD_URL: ['NotFound', 'No such address'],
  FST_ERR_NOT_FOUND: ['NotFound', 'No such address'],
};

const OF_STATUS: Readonly<Record<number, readonly [FailureType, string]>> = {
  400: ['InvalidInput', 'The request is not valid'],
  404: ['NotFound', 'No such address'],
  408: ['InvalidInput', 'The request took too long to arrive'],
  413: ['TooLarge', 'The body is larger than this server takes'],
  414: ['InvalidInput', 'The address is too long'],
  415: ['UnsupportedMedia', 'Send application/json'],
  429: ['RateLimited', 'Too many requests with this key'],
  503: ['Unavailable', 'The server is stopping; try again'],
};

function fromFastify(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 0;
  const known = OF_FASTIFY[code] ?? OF_STATUS[status];
  if (known) return new Failure(known[0], known[1]);
  return status >= 400 && status < 500 ? new Failure('InvalidInput', 'The request is not valid') : undefined;
}

/**
 * Maps SQLSTATE class 22: a value that Postgres cannot store passed the schemas, and the caller can still change it.
 */
/** Routes look up what a request names first, so it is missing only when it was removed at that moment. */
const FOREIGN_KEY_VIOLATION = '23503';

function fromPostgres(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (error.code.startsWith('22'))
    return new Failure('InvalidInput', 'The request holds a value that cannot be kept');
  if (error.code === FOREIGN_KEY_VIOLATION)
    return new Failure('Conflict', 'Something that the request names was removed meanwhile; read it again');
  return undefined;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return (end < 0 ? url : url.slice(0, end)).slice(0, 300);
}
