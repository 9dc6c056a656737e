/** Agents as tools `ask_{agent}`: a message to one, as `POST /v1/sessions/{key}/messages` sends it, and its answer. */
import { randomUUID } from 'node:crypto';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type AgentRow, findAgent, listAgents } from '#store/agent-store.ts';
import { isName } from '#domain/ids.ts';
import { sessionKeySchema } from '#domain/schema/scalars.ts';
import { messageCreateSchema } from '#domain/schema/message.ts';
import { requireScope } from '#api/server/auth.ts';
import { stemOfKey } from '#api/server/idempotency.ts';
import { readTextPage } from '#api/server/pages.ts';
import { contextOf, idOf } from '#api/routes/turns/messages.ts';
import { submitMessage } from '#api/submit-message.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { McpCall, McpRequest } from './mcp-request.ts';
import { inputSchemaOf, readArguments } from './own-tool.ts';
import { lastEventOf } from '#api/turn-follower.ts';
import { answerOfTurn } from './turn-answer.ts';

const PREFIX = 'ask_';
/** Agents of one page. */
const PAGE = 200;

const asking = z.strictObject({
  message: messageCreateSchema.shape.text.describe('What to say to the agent'),
  session: sessionKeySchema
    .optional()
    .describe('Goes on in this conversation, as an answer named it; a new one unless given'),
});

/** A page of them, by their keys. */
export async function listAgentTools(
  { deps, caller: { tenant } }: McpRequest,
  cursor: string | undefined,
): Promise<{ readonly tools: Tool[]; readonly nextCursor?: string }> {
  const read = (limit: number, after: string) => listAgents(forTenant(deps.pool, tenant), limit, after);
  const page = await readTextPage({ limit: PAGE, cursor }, 'key', read, show);
  return { tools: page.data, ...(page.next_cursor === null ? {} : { nextCursor: page.next_cursor }) };
}

/** Returns undefined when the name is not an agent's. A client that supports tasks gets one immediately. */
export async function callAgentTool(
  call: McpCall,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult | undefined> {
  const { deps, caller, key, takesTasks, waitSeconds } = call;
  const agent = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '';
  if (!isName(agent) || !(await findAgent(forTenant(deps.pool, caller.tenant), agent))) return undefined;
  requireScope(caller, 'run');
  const { message, session: value } = readArguments(asking, args);
  const stem = key === undefined ? undefined : stemOfKey(key, caller, 'mcp');
  const session = value ?? `mcp-${stem ?? randomUUID()}`;
  const after = await lastEventOf(deps, caller.tenant, session);
  const { receipt } = await submitMessage(deps, caller.tenant, {
    ...idOf(stem),
    session,
    text: message,
    mode: null,
    context: contextOf(caller, { agent }),
    confinedTo: caller.confinedTo,
  });
  return answerOfTurn(call, { session, id: receipt.turn_id }, after, takesTasks ? 0 : waitSeconds);
}

function show({ key, config: { name, description } }: AgentRow): Tool {
  const who = name === undefined ? key : `${name} (${key})`;
  return {
    name: `${PREFIX}${key}`,
    title: `Ask ${who}`,
    description: `Ask the agent ${who}, and get its answer${description === undefined ? '' : `. ${description}`}`,
    inputSchema: inputSchemaOf(asking),
  };
}
