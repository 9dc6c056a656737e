/** One request of an MCP client: its caller, in which agent's name, and how long an answer may take. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { FAILURES, type FailureType } from '#domain/errors.ts';
import type { Caller } from '#api/server/auth.ts';
import type { ApiDeps } from '#api/deps.ts';
import { toProblem } from '#api/server/errors.ts';

export interface McpRequest {
  readonly deps: ApiDeps;
  readonly caller: Caller;
  /** The agent whose tools are listed and called. */
  readonly agent: string;
  /** How long a call waits for its turn's end. */
  readonly waitSeconds: number;
  /** Aborted when the client disconnects or the server stops; what has started continues. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Logs an error of ours. */
  readonly onBug: (error: unknown) => void;
}

/** What a client sends along with a call that was answered with a question. */
export interface Answered {
  readonly state: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** One tool call in the request. */
export interface McpCall extends McpRequest {
  /** Identifies the call; when it is sent again, it is the same call. */
  readonly key: string | undefined;
  /** The client accepts a task as an answer (extension io.modelcontextprotocol/tasks). */
  readonly takesTasks: boolean;
  /** The client shows questions to its person, and the key may decide, so approvals are presented there. */
  readonly elicits: boolean;
  /** What the person answered, when the call is sent again for that. */
  readonly answered?: Answered | undefined;
  /** Present when the client requests progress reports. */
  readonly report?: ((words: string) => Promise<void>) | undefined;
}

export interface Turn {
  readonly session: string;
  readonly id: string;
}

/** The part of an error for a client: never words that were not written for callers. */
export function readError(
  { requestId, onBug }: McpRequest,
  error: unknown,
): { readonly type: FailureType; readonly message: string } {
  const { body, isBug } = toProblem(error, { id: requestId, url: '/mcp' });
  if (isBug) onBug(error);
  const where = isBug ? ` (request ${requestId})` : '';
  return { type: body.code as FailureType, message: `${body.code}: ${body.detail}${where}` };
}

/** The same as a JSON-RPC error, for everything that is no tool call. */
export function toProtocolError(request: McpRequest, error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const { type, message } = readError(request, error);
  const { status, retryable } = FAILURES[type];
  const code =
    status >= 500
      ? ProtocolErrorCode.InternalError
      : status === 400 || status === 404
        ? ProtocolErrorCode.InvalidParams
        : ProtocolErrorCode.InvalidRequest;
  return new ProtocolError(code, message, { code: type, retryable, request_id: request.requestId });
}
