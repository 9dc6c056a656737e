/**
 * TempoClaw as an MCP server (MC-5). It is made for one request, so that any process of the API answers any request.
 */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { Failure } from '#domain/errors.ts';
import { isMessageId } from '#domain/ids.ts';
import { idSchema, textSchema } from '#domain/schema/scalars.ts';
import { requireScope } from '#api/server/auth.ts';
import { reachableTurn } from '#api/found.ts';
import { callAgentTool, listAgentTools } from './agent-tools.ts';
import {
  APPROVAL_TEMPLATE,
  callDecide,
  DECIDE,
  listApprovalResources,
  readApprovalResource,
} from './approval-resources.ts';
import { takeAnswer } from './ask-client.ts';
import { callCatalogTool, listCatalogTools } from './catalog-tools.ts';
import { type Answered, type McpCall, type McpRequest, readError, toProtocolError } from './mcp-request.ts';
import { inputSchemaOf, readArguments } from './own-tool.ts';
import { lastEventOf } from '#api/turn-follower.ts';
import { answerOfTurn, errorResult } from './turn-answer.ts';
import { addTasks, takesTasks, TASKS_OFFER } from './turn-tasks.ts';

/** A field in `_meta` of a call that identifies it, so that a repeat is the same call. */
const IDEMPOTENCY_KEY = 'tempoclaw/idempotency-key';
const keys = z.looseObject({ [IDEMPOTENCY_KEY]: textSchema(255).optional() });

const INSTRUCTIONS =
  'Tools run as durable turns of an agent, under its policy. ask_{agent} talks to an agent. A call that needs a person waits, then names its approval; turn_result gives what became of it.';

const finding = z.strictObject({ turn_id: idSchema.describe('As an earlier answer named it') });

const TURN_RESULT: Tool = {
  name: 'turn_result',
  title: 'Result of a turn',
  description: 'Waits for a turn that had not ended when it was begun, and gives its result.',
  inputSchema: inputSchemaOf(finding),
  annotations: { readOnlyHint: true },
};

export function createMcpServer(request: McpRequest): Server {
  const { caller } = request;
  const server = new Server(
    { name: 'tempoclaw', title: 'TempoClaw', version: manifest.version },
    { capabilities: { tools: {}, resources: {}, extensions: TASKS_OFFER }, instructions: INSTRUCTIONS },
  );
  /** Runs requests that only read. */
  const probe = async <Answer>(answer: () => Promise<Answer>): Promise<Answer> => {
    try {
      requireScope(caller, 'read');
      return await answer();
    } catch (error) {
      throw toProtocolError(request, error);
    }
  };

  server.setRequestHandler('tools/list', ({ params }) => probe(() => listTools(request, params?.cursor)));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, context) =>
    callTool(request, () => callOf(request, server, context), name, args),
  );
  server.setRequestHandler('resources/list', ({ params }) =>
    probe(() => listApprovalResources(request, params?.cursor)),
  );
  server.setRequestHandler('resources/templates/list', () =>
    probe(async () => ({ resourceTemplates: [APPROVAL_TEMPLATE] })),
  );
  server.setRequestHandler('resources/read', ({ params }) =>
    probe(() => readApprovalResource(request, params.uri)),
  );
  addTasks(server, request);
  return server;
}

/** What the key may call. The first page has all tools and the first agents; further pages have agents. */
async function listTools(
  request: McpRequest,
  cursor: string | undefined,
): Promise<{ tools: Tool[]; nextCursor?: string }> {
  const { scopes } = request.caller;
  const agents = scopes.has('run') ? await listAgentTools(request, cursor) : { tools: [] };
  if (cursor !== undefined) return agents;
  const tools = scopes.has('run') ? await listCatalogTools(request) : [];
  return {
    ...agents,
    tools: [...tools, TURN_RESULT, ...(scopes.has('approve') ? [DECIDE] : []), ...agents.tools],
  };
}

/** A refusal of the call is a result too, so that the model reads it. */
async function callTool(
  request: McpRequest,
  read: () => McpCall,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  try {
    const call = read();
    if (call.answered) return await goOn(call, call.answered);
    if (name === DECIDE.name) return await callDecide(call, args);
    if (name === TURN_RESULT.name) return await findResult(call, args);
    const answer = (await callAgentTool(call, name, args)) ?? (await callCatalogTool(call, name, args));
    if (answer) return answer;
  } catch (error) {
    return errorResult(readError(request, error).message);
  }
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
}

/** Handles a call that was answered with a question, and is sent again with the answer. It makes no other call. */
async function goOn(call: McpCall, answered: Answered): Promise<CallToolResult> {
  const { isAside, ...turn } = await takeAnswer(call, answered);
  const after = await lastEventOf(call.deps, call.caller.tenant, turn.session);
  const elicits = call.elicits && !isAside;
  return answerOfTurn({ ...call, elicits }, turn, after, call.waitSeconds);
}

async function findResult(call: McpCall, args: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
  const { deps, caller, waitSeconds } = call;
  requireScope(caller, 'read');
  const { turn_id: id } = readArguments(finding, args);
  const turn = isMessageId(id) ? await reachableTurn(deps.pool, caller, id) : undefined;
  if (!turn) throw new Failure('NotFound', 'There is no turn with this id');
  const session = turn.session_key;
  const after = await lastEventOf(deps, caller.tenant, session);
  return answerOfTurn({ ...call, takesTasks: false }, { session, id }, after, waitSeconds);
}

/** A client that names no mode supports forms. */
function showsForms(input: { readonly form?: unknown; readonly url?: unknown } | undefined): boolean {
  return input !== undefined && (input.form !== undefined || input.url === undefined);
}

function callOf(request: McpRequest, server: Server, { mcpReq }: ServerContext): McpCall {
  const { _meta: meta, notify, inputResponses: responses = {} } = mcpReq;
  const state = mcpReq.requestState<string>();
  const { elicitation } = server.getClientCapabilities() ?? {};
  const progressToken = meta?.progressToken;
  let progress = 0;
  return {
    ...request,
    signal: AbortSignal.any([request.signal, mcpReq.signal]),
    key: readArguments(keys, meta ?? {})[IDEMPOTENCY_KEY],
    takesTasks: takesTasks(server),
    // In revisions before 2026-07-28, a server without sessions cannot ask anything.
    elicits: mcpReq.envelope !== undefined && showsForms(elicitation) && request.caller.scopes.has('approve'),
    answered: state === undefined ? undefined : { state, responses },
    report:
      progressToken === undefined
        ? undefined
        : async (message) => {
            progress += 1;
            await notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
          },
  };
}
