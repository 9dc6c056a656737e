/** Makes docs/errors.md from domain/errors.ts. */
import { FAILURES, type FailureType, TOOL_ERROR_CODES, type ToolErrorCode } from '#domain/errors.ts';
import { keepPage } from './generated-page.ts';

/** What a caller does about it. */
const REMEDIES: Readonly<Record<FailureType, string>> = {
  InvalidInput: 'Correct the fields that `errors` names.',
  Unauthorized: 'Send `Authorization: Bearer tc_…` with a key that is neither revoked nor expired.',
  Forbidden: 'Use a key with the scope in `scope`, or ask an admin.',
  NotFound: 'Check the id. Ids of other tenants look the same as ids that never were.',
  MethodNotAllowed: 'Use a method of the `Allow` header.',
  Conflict: 'Read the state first; `detail` says what stands in the way.',
  SessionBusy: 'Wait for the turn, or send the message with another `mode`.',
  StaleTurn: 'The turn you meant has ended or another one runs. Read the session.',
  AlreadyDecided: 'Somebody decided before; `detail` says who and when.',
  OutcomeUnknown: 'A call may or may not have taken effect. Look before you repeat it.',
  IdempotencyInFlight: 'Wait for the first request, then repeat this one.',
  ApprovalExpired: 'Nothing has run. Ask the agent again.',
  ApprovalWithdrawn: 'The turn was stopped before. Nothing has run.',
  EventsTrimmed: 'Begin after `first_id` - 1, and read the transcript for what came before.',
  PreconditionFailed: 'Read it again, and send what you want with its new `ETag`.',
  TooLarge: 'Send less.',
  UnsupportedMedia: 'Send `application/json` in UTF-8.',
  Misdirected: 'Ask by a name that it is known by, or add this one to `api.allowedHosts`.',
  Unprocessable: 'Correct what `detail` names.',
  IdempotencyMismatch: 'Use a new Idempotency-Key for a new request.',
  RateLimited: 'Wait `Retry-After` seconds.',
  QueueFull: 'Wait until the session has worked off some messages.',
  BudgetExceeded: 'Raise the budget or wait for its next period.',
  ModelFailed: 'See `detail`; the provider refused or failed for good.',
  Unavailable: 'Wait `Retry-After` seconds and repeat the same request with the same Idempotency-Key.',
  Internal: 'Tell us the `request_id`; the log has the rest.',
};

const TOOL_WORDS: Readonly<Record<ToolErrorCode, string>> = {
  NotFound: 'There is no such tool or thing.',
  InvalidArgs: 'The arguments do not fit the tool’s schema.',
  ExecutionFailed: 'The tool ran and failed.',
  PermissionDenied: 'Policy does not allow the call; it has not run.',
  FileNotFound: 'There is no such file.',
  InvalidPath: 'The path leads out of the workspace or to something that is not served.',
  Timeout: 'The tool took longer than it may.',
  RateLimited: 'Too many calls in this session; it has not run.',
  ApprovalDenied: 'A person said no; it has not run.',
  ApprovalExpired: 'Nobody decided in time; it has not run.',
  ApprovalWithdrawn: 'The request for approval was withdrawn; it has not run.',
  BudgetExceeded: 'A budget is used up; it has not run.',
  SandboxUnavailable:
    'The box that commands run in is missing or was lost; nothing runs outside of it instead.',
  OutcomeUnknown:
    'The call had begun when its worker ended or was lost; whether it took effect is not known.',
  Cancelled: 'The turn was stopped.',
};

function page(): string {
  const failures = Object.entries(FAILURES).map(
    ([type, row]) =>
      `| <a id="${type}"></a>\`${type}\` | ${row.status} | ${row.retryable ? 'yes' : 'no'} | ${row.title} | ${REMEDIES[type as FailureType]} |`,
  );
  const codes = TOOL_ERROR_CODES.map((code) => `| \`${code}\` | ${TOOL_WORDS[code]} |`);
  return `<!-- Made by scripts/generate-errors-doc.ts from domain/errors.ts; change that. -->
# Errors

The API answers every refusal with \`application/problem+json\` (RFC 9457): \`type\`, \`title\`, \`status\`, \`detail\`, \`instance\`,
\`code\`, \`request_id\`, \`retryable\`, and \`errors[] {pointer, message}\` where fields are wrong. \`code\` is stable; words may change.
The same names are the \`type\` of failures that the workflows' updates throw to any Temporal client.

| code | status | try again | what | what to do |
|---|---|---|---|---|
${failures.join('\n')}

## What a model reads

A tool call that fails does not fail its turn: the model gets one of these codes with words, and goes on (EX-4).

| code | meaning |
|---|---|
${codes.join('\n')}
`;
}

keepPage('docs/errors.md', page());
