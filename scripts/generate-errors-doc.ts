/** Makes docs/errors.md from domain/errors.ts. */
import { FAILURES, type FailureType, TOOL_ERROR_CODES, type ToolErrorCode } from '#domain/errors.ts';
import { keepPage } from './generated-page.ts';
import { REMEDIES } from '#domain/remedies.ts';

const TOOL_WORDS: Readonly<Record<ToolErrorCode, string>> = {
  NotFound: 'The tool, or the thing that the call names, does not exist.',
  InvalidArgs: 'The arguments do not fit the tool’s schema.',
  ExecutionFailed: 'The tool ran and failed.',
  PermissionDenied: 'The policy does not allow the call, which has not run.',
  FileNotFound: 'The file does not exist.',
  InvalidPath: 'The path leads out of the workspace, or to something that the tool does not serve.',
  Timeout: 'The tool took longer than its time limit.',
  RateLimited: 'The session made too many calls. This one has not run.',
  ApprovalDenied: 'A person rejected the call, which has not run.',
  ApprovalExpired: 'Nobody decided in time. The call has not run.',
  ApprovalWithdrawn: 'The request for approval was withdrawn. The call has not run.',
  BudgetExceeded: 'A budget is used up. The call has not run.',
  SandboxUnavailable:
    'The sandbox for commands is missing or was lost. No command runs outside of it instead.',
  OutcomeUnknown: 'The call had started when its worker ended or was lost. It may have taken effect.',
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

This page lists the error codes of the API and of tool calls, and says what you can do about each. To see an error, read a
turn that does not exist:

\`\`\`sh
eval "$(npx tempoclaw env)"
curl -s $TEMPOCLAW_URL/v1/turns/turn_none -H "Authorization: Bearer $TEMPOCLAW_API_KEY"
\`\`\`

\`\`\`text
…"code":"NotFound"…
\`\`\`

The API answers every refused request with \`application/problem+json\` (RFC 9457):

- Each answer has \`type\`, \`title\`, \`status\`, \`detail\`, \`instance\`, \`code\`, \`request_id\` and \`retryable\`.
- If fields of the request are wrong, \`errors[] {pointer, message}\` names them.
- Programs can rely on \`code\`. The wording of the other texts may change.

A Temporal client gets the same codes, as the \`type\` of the failures of workflow updates.

| code | status | try again | title | what to do |
|---|---|---|---|---|
${failures.join('\n')}

## What a model reads

A tool call that fails does not fail its turn. The model gets one of these codes with an explanation, and continues (EX-4).

| code | meaning |
|---|---|
${codes.join('\n')}
`;
}

keepPage('docs/errors.md', page());
