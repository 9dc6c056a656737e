/**
 * Runs a call of an MCP server's tool within its time limit: the tool that people agreed to, for agents and users with
 * a grant. Every error is a result.
 */
import type { McpServers } from './mcp-servers.ts';
import { randomUUID } from 'node:crypto';
import { ProtocolError, SdkHttpError } from '@modelcontextprotocol/client';
import { EgressError } from '@tempoclaw/egress';
import { egressResult } from '#activities/egress/egress-result.ts';
import { callSeconds } from '../rules/grants.ts';
import { mcpReplay } from '../rules/server.ts';
import { afterLogin, askForLogin } from '#activities/tool-call/missing-login.ts';
import { judgeUrl } from '@tempoclaw/egress/rules';
import { markOutside } from '#domain/text/outside-text.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';
import { createGoneTool } from '#policy/gone-tool.ts';
import type { RunningCall, Tool, ToolSpec } from '#policy/define-tool.ts';
import { catalogedMcpTool } from '../policy/mcp-tool.ts';
import type { McpToolOfCall } from '../store/mcp-tool-store.ts';
import { CallLate, CallLost, resumeCall } from './resume-call.ts';
import { loginNeededIn, McpAway } from './mcp-away.ts';
import { errorText } from './error-words.ts';
import { resultImages, resultText } from './result-text.ts';

interface Needs {
  readonly mcp: McpServers;
}

/** A JSON-RPC code. */
const INVALID_PARAMS = -32_602;

type Found = NonNullable<McpToolOfCall['found']>;

/** Uses the current definition, whatever it was when the call was planned. */
export function runnableMcpTool({ name, found }: McpToolOfCall): Tool {
  if (!found) return createGoneTool(name, 'is not there any more: its MCP server was removed');
  const { server, grants, tool } = found;
  if (!server.config.enabled)
    return createGoneTool(name, `is not there: the MCP server ${server.name} is switched off`);
  if (tool.found_hash === null)
    return createGoneTool(name, `is not there any more: the MCP server ${server.name} lists it no longer`);
  if (!tool.pinned || tool.pinned_hash !== tool.found_hash)
    return createGoneTool(name, changedWords(server.name));
  const definition = { id: tool.id, revision: tool.revision, definition: tool.pinned };
  const spec: ToolSpec<unknown, Needs> = {
    ...catalogedMcpTool({ ...server, grants }, definition),
    run: (deps, input, call) => runCall(deps, found, input as Record<string, unknown>, call),
  };
  return spec as Tool;
}

function changedWords(server: string): string {
  return `was changed by its MCP server ${server}; it is switched off until an admin consents to it`;
}

async function runCall(
  { mcp }: Needs,
  found: Found,
  args: Record<string, unknown>,
  call: RunningCall,
): Promise<ToolResult> {
  const { server, tool } = found;
  const judged = server.config.transport === 'stdio' ? undefined : judgeUrl(server.config.url, call.egress);
  if (judged?.decision === 'deny')
    return toolError('PermissionDenied', `${server.name} may not be asked: ${judged.reason}`);
  if (!call.outside) throw new Error('a call of an MCP server has a row');
  const at = { login: 'mcp', server: server.name } as const;
  const outside = await afterLogin(at, call.outside);
  if ('ok' in outside) return outside;
  const seconds = callSeconds(server.config.timeout_sec, found.grants, call.agent);
  // Set when the request may have reached the server.
  let hide: ((text: string) => string) | undefined;
  const definition = tool.pinned;
  if (!definition) return toolError('PermissionDenied', changedWords(server.name));
  try {
    return await resumeCall({
      key: call.idempotencyKey,
      server: server.name,
      maySample: server.config.sampling,
      begins: {
        name: tool.name,
        definition,
        args,
        onprogress: progressOf((text) => hide?.(text) ?? text, call),
      },
      check: ({ hashes }) => {
        const problem = checkListed(hashes.get(tool.name), found);
        if (problem) throw new NotSent(problem);
      },
      use: (work) => mcp.use(server, call.user, work),
      held: mcp.held,
      outside,
      signal: call.signal,
      mayRepeat: mcpReplay(server.config, definition) !== 'once',
      limitMs: seconds * 1000,
      progress: call.progress,
      show: (result, hidden) => {
        const text = outsideText(server.name, resultText(result, hidden));
        return result.isError
          ? toolError('ExecutionFailed', text)
          : { ok: true, text, images: resultImages(result, hidden) };
      },
      onSent: (hidden) => {
        hide = hidden;
      },
    });
  } catch (error) {
    if (call.signal.aborted) throw error;
    const login = loginNeededIn(error);
    if (login && call.user !== null) {
      const missing = { ...at, user: call.user, why: login.message, how: loginCommands(server) };
      return askForLogin(missing, outside);
    }
    return errorResult(error, found, seconds, hide);
  }
}

function loginCommands({ name, config }: Found['server']): string {
  const give = `npx tempoclaw mcp credentials ${name} FILE`;
  return config.transport === 'stdio' ? give : `npx tempoclaw mcp login ${name}, or ${give}`;
}

/** The request was not sent; it has the result that says why. */
class NotSent extends Error {
  readonly result: ToolResult;
  constructor(result: ToolResult) {
    super('not sent');
    this.result = result;
  }
}

function checkListed(hash: string | undefined, { server, tool }: Found): ToolResult | undefined {
  if (hash === undefined)
    return toolError(
      'NotFound',
      `the MCP server ${server.name} has no tool ${tool.name} any more; nothing was run`,
    );
  if (hash !== tool.pinned_hash)
    return toolError('PermissionDenied', `${tool.name} ${changedWords(server.name)}; nothing was run`);
  return undefined;
}

/** Milliseconds between two progress lines, and characters of a line. */
const EVERY_MS = 500;
const LINE = 300;
/** Characters that are read, so that no half of a secret is left. */
const MAX = 20_000;

function progressOf(hide: (text: string) => string, call: RunningCall) {
  let next = 0;
  return ({ progress, total, message }: { progress: number; total?: number; message?: string }): void => {
    if (Date.now() < next) return;
    next = Date.now() + EVERY_MS;
    const done = total === undefined ? String(progress) : `${progress} of ${total}`;
    call.progress(message === undefined ? done : `${done}: ${hide(message.slice(0, MAX)).slice(0, LINE)}`);
  };
}

/**
 * The outcome of a call without a result; `hide` is set when it was sent. Nothing is rethrown, because it would be
 * mistaken for an error of the database.
 */
function errorResult(
  error: unknown,
  { server, tool }: Found,
  seconds: number,
  hide: ((text: string) => string) | undefined,
): ToolResult {
  if (error instanceof NotSent) return error.result;
  if (error instanceof McpAway)
    return toolError('ExecutionFailed', serverWords(server.name, error.words, error.reply));
  if (error instanceof ProtocolError)
    return toolError(
      error.code === INVALID_PARAMS ? 'InvalidArgs' : 'ExecutionFailed',
      outsideText(server.name, hide?.(error.message) ?? error.message),
    );
  const refused = refusalIn(error);
  if (refused) return egressResult(refused);
  const what = `${tool.name} of the MCP server ${server.name}`;
  if (error instanceof CallLate)
    return toolError(
      'Timeout',
      `${what} did not answer within ${seconds} s; whether it has done anything is not known`,
    );
  const words = errorText(error, hide ?? ((text) => text));
  if (!(error instanceof CallLost) && (!hide || error instanceof SdkHttpError || /ECONNREFUSED/.test(words)))
    return toolError('ExecutionFailed', serverWords(server.name, `${what} was not reached`, words));
  return toolError(
    'OutcomeUnknown',
    serverWords(
      server.name,
      `${what} was lost while it ran. Whether it has done its work is not known; look before you call it again`,
      words,
    ),
  );
}

/** Our words, with what the server said, or may have said. */
function serverWords(server: string, words: string, from: string): string {
  return from === '' ? words : `${words}:\n${outsideText(server, from)}`;
}

/** A refusal by the egress rules: nothing was sent. */
function refusalIn(error: unknown): EgressError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof EgressError && cause.isRefused) return cause;
  return undefined;
}

function outsideText(server: string, text: string): string {
  return markOutside({ id: randomUUID(), source: `mcp:${server}`, text });
}
