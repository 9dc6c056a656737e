/**
 * A call whose user has no login for what it needs waits for one, as for an answer to a question (IN-10): an approval that
 * this user alone decides, and that is decided by itself when the login is there.
 */
import { loginPlace, type McpForm } from '#domain/form.ts';
import { type CallOutside, toolError, type ToolResult } from '#domain/tool.ts';

/** How often one call asks its user. */
const MAX_ASKS = 20;

export interface MissingLogin extends Required<Pick<McpForm, 'login' | 'server'>> {
  readonly user: string;
  readonly why: string;
  /** The commands that give it. */
  readonly how: string;
}

export function askForLogin(
  { login, server, user, why, how }: MissingLogin,
  { left = { since: Date.now(), asks: 0 } }: Pick<CallOutside, 'left'>,
): ToolResult {
  if (left.asks >= MAX_ASKS)
    return toolError('ExecutionFailed', `${why}; ${user} was asked for a login ${left.asks} times`);
  const message = `${user} has to log in for ${loginPlace({ login, server })}, which this call needs: ${why}. At a terminal: ${how}`;
  const form = { server, message, login, fields: [] };
  return { ok: true, text: '', pending: { form, left: { ...left, asks: left.asks + 1, login: true } } };
}

/**
 * The state that the call goes on with, or its result when there is no login. The state is kept before anything is
 * sent, so a call that still waits for a login was not sent by another attempt either.
 */
export async function afterLogin(
  at: Pick<MissingLogin, 'login' | 'server'>,
  outside: CallOutside,
): Promise<CallOutside | ToolResult> {
  const { left, answer } = outside;
  if (!left?.login) return outside;
  if (outside.isStopped || answer?.status === 'withdrawn')
    return toolError('Cancelled', 'the turn was stopped while the call waited for a login; it has not run');
  if (answer?.status !== 'approved') {
    const isDenied = answer?.status === 'denied';
    return toolError(
      isDenied ? 'ApprovalDenied' : 'ApprovalExpired',
      `the user ${isDenied ? 'does not log' : 'has not logged'} in for ${loginPlace(at)}; the call has not run`,
    );
  }
  const { login: _login, ...before } = left;
  await outside.keep(before);
  return {
    get left() {
      return outside.left;
    },
    isAgain: false,
    isStopped: false,
    answer: undefined,
    keep: (now) => outside.keep(now),
    sample: (prompt) => outside.sample(prompt),
    get isSampling() {
      return outside.isSampling;
    },
  };
}
