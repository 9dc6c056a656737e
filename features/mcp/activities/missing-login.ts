/**
 * A call whose user has no login at its MCP server waits for one, as for an answer to a question (MC-1): an approval that
 * this user alone decides, and that is decided by itself when the login is there.
 */
import { type CallOutside, toolError, type ToolResult } from '#domain/tool.ts';
import type { McpServerToUse } from '../store/mcp-server-store.ts';
import type { LoginNeeded } from './mcp-away.ts';
import { MAX_ASKS } from './resume-call.ts';

export function askForLogin(
  { name, config }: McpServerToUse,
  user: string,
  { message: why }: LoginNeeded,
  { left = { since: Date.now(), asks: 0 } }: Pick<CallOutside, 'left'>,
): ToolResult {
  if (left.asks >= MAX_ASKS)
    return toolError('ExecutionFailed', `${why}; ${user} was asked for a login ${left.asks} times`);
  const give = `npx tempoclaw mcp credentials ${name} FILE`;
  const how = config.transport === 'stdio' ? give : `npx tempoclaw mcp login ${name}, or ${give}`;
  const form = {
    server: name,
    message: `${user} has to log in at the MCP server ${name} for this call: ${why}. At a terminal: ${how}`,
    login: 'mcp' as const,
    fields: [],
  };
  return { ok: true, text: '', pending: { form, left: { ...left, asks: left.asks + 1, login: true } } };
}

/**
 * The state that the call goes on with, or its result when there is no login. The state is kept before anything is sent,
 * so a call that still waits for a login was not sent by another attempt either.
 */
export async function afterLogin(server: string, outside: CallOutside): Promise<CallOutside | ToolResult> {
  const { left, answer } = outside;
  if (!left?.login) return outside;
  if (outside.isStopped || answer?.status === 'withdrawn')
    return toolError('Cancelled', `the turn was stopped while the call waited for a login; it has not run`);
  if (answer?.status !== 'approved') {
    const isDenied = answer?.status === 'denied';
    return toolError(
      isDenied ? 'ApprovalDenied' : 'ApprovalExpired',
      `the user ${isDenied ? 'does not log' : 'has not logged'} in at the MCP server ${server}; the call has not run`,
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
