/**
 * The two kinds of error and their one table. What stops a workflow or refuses a request is a `Failure` with a type
 * from FAILURES. What a model should read is a value with a ToolErrorCode (EX-4).
 */

/** HTTP status, whether the same request may succeed later, and the title for people. */
interface FailureRow {
  readonly status: number;
  readonly retryable: boolean;
  readonly title: string;
}

export const FAILURES = {
  InvalidInput: { status: 400, retryable: false, title: 'The request is not valid' },
  Unauthorized: { status: 401, retryable: false, title: 'A valid API key is needed' },
  Forbidden: { status: 403, retryable: false, title: 'This is not allowed' },
  NotFound: { status: 404, retryable: false, title: 'There is no such thing' },
  MethodNotAllowed: { status: 405, retryable: false, title: 'The method is not allowed here' },
  Conflict: { status: 409, retryable: false, title: 'The state does not allow this' },
  SessionBusy: { status: 409, retryable: true, title: 'The session is busy with a turn' },
  StaleTurn: { status: 409, retryable: false, title: 'That turn is not the running one' },
  AlreadyDecided: { status: 409, retryable: false, title: 'The approval has been decided' },
  OutcomeUnknown: { status: 409, retryable: false, title: 'Whether the call took effect is not known' },
  IdempotencyInFlight: {
    status: 409,
    retryable: true,
    title: 'The first request with this key is still running',
  },
  ApprovalExpired: { status: 410, retryable: false, title: 'The approval has expired' },
  ApprovalWithdrawn: { status: 410, retryable: false, title: 'The approval was withdrawn' },
  EventsTrimmed: { status: 410, retryable: false, title: 'The events asked for are no longer kept' },
  PreconditionFailed: { status: 412, retryable: false, title: 'It is not as the caller has seen it' },
  TooLarge: { status: 413, retryable: false, title: 'The request is too large' },
  UnsupportedMedia: { status: 415, retryable: false, title: 'The content type is not supported' },
  Misdirected: { status: 421, retryable: false, title: 'This server does not go by that name' },
  NotRecorded: {
    status: 422,
    retryable: false,
    title: 'What is replayed has no answer for this, and nothing real is asked',
  },
  RecordingDiffers: { status: 422, retryable: false, title: 'The replay differs from its recording' },
  Unprocessable: { status: 422, retryable: false, title: 'The request is well formed but cannot be done' },
  IdempotencyMismatch: {
    status: 422,
    retryable: false,
    title: 'The idempotency key was used with another request',
  },
  RateLimited: { status: 429, retryable: true, title: 'Too many requests' },
  QueueFull: { status: 429, retryable: true, title: 'Too many messages wait in this session' },
  BudgetExceeded: { status: 429, retryable: false, title: 'A budget is used up' },
  ModelFailed: { status: 502, retryable: false, title: 'The model could not answer' },
  TenantFrozen: { status: 503, retryable: true, title: 'The tenant is frozen for now' },
  Unavailable: { status: 503, retryable: true, title: 'A service that is needed does not answer' },
  Internal: { status: 500, retryable: false, title: 'An error of ours' },
} as const satisfies Record<string, FailureRow>;

export type FailureType = keyof typeof FAILURES;

export function isFailureType(value: unknown): value is FailureType {
  return typeof value === 'string' && Object.hasOwn(FAILURES, value);
}

/** A refusal with a type from the table. Callers see `details`, so it must not contain secrets. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly type: FailureType;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(type: FailureType, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.type = type;
    this.details = details;
  }
}

/** The refusal of one more where there may be `max` of them, which are named like "webhooks". */
export function limitReached(max: number, things: string): Failure {
  return new Failure('Conflict', `There are ${max} ${things}, which is the most; delete one first`);
}

/** A refusal of one field, such as `body/step`: callers read it in the text, and programs in `errors`. */
export function fieldFailure(type: FailureType, pointer: string, message: string): Failure {
  return new Failure(type, `${pointer}: ${message}`, { errors: [{ pointer, message }] });
}

/** The codes a model can act on (EX-4). */
export const TOOL_ERROR_CODES = [
  'NotFound',
  'InvalidArgs',
  'ExecutionFailed',
  'PermissionDenied',
  'FileNotFound',
  'InvalidPath',
  'Timeout',
  'RateLimited',
  'ApprovalDenied',
  'ApprovalExpired',
  'ApprovalWithdrawn',
  'BudgetExceeded',
  'OutcomeUnknown',
  'SandboxUnavailable',
  'Cancelled',
] as const;

export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number];
