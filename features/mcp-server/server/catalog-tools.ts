/**
 * The tools of an agent for an MCP client: those that its policy allows, called as `POST /v1/tools/{name}/invoke` does.
 * TempoClaw's own have their plain name. Those of others are `{namespace}__{tool}`, so that none can be mistaken for
 * ours (MC-5).
 */
import { randomUUID } from 'node:crypto';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { findRulesOfAgent } from '#store/tenant-policy-store.ts';
import { Failure } from '#domain/errors.ts';
import { requireScope } from '#api/server/auth.ts';
import type { ToolDescription } from '#api/deps.ts';
import { stemOfKey } from '#api/server/idempotency.ts';
import { contextOf, idOf } from '#api/routes/turns/messages.ts';
import { submitToolCall } from '#api/submit-tool-call.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { McpCall, McpRequest } from './mcp-request.ts';
import { answerOfTurn } from './turn-answer.ts';

/** The namespace of tools that a tenant has made; those of MCP servers have their own. */
const CUSTOM = 'custom';

/** Throws NotFound when the agent is gone. */
export async function listCatalogTools({ deps, caller, agent }: McpRequest): Promise<Tool[]> {
  const { tenant, user } = caller;
  const rules = await findRulesOfAgent(forTenant(deps.pool, tenant), agent, user);
  if (!rules) throw new Failure('NotFound', `There is no agent ${agent}`);
  const catalog = await deps.policy.catalogs.of(tenant, agent);
  const scope = { ...rules, context: { user: user ?? undefined } };
  const offered = new Set(deps.rules.offered(scope, catalog));
  const tools = await deps.tools.list(tenant, agent);
  return tools
    .filter(({ name }) => offered.has(name))
    .map((tool) => show(exposedName(deps.tools, tool.name), tool));
}

/**
 * Returns undefined when the agent has no such tool. A denied one is called too, so that the refusal is recorded as an
 * agent's would be.
 */
export async function callCatalogTool(
  call: McpCall,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult | undefined> {
  const { deps, caller, agent, key, waitSeconds } = call;
  const tool = await findTool(call, name);
  if (!tool) return undefined;
  requireScope(caller, 'run');
  // The session is also derived from what is called, so that another call under an old key gets an error.
  const what = JSON.stringify([key, agent, tool.name, args]);
  const session = `tool-${key === undefined ? randomUUID() : stemOfKey(what, caller)}`;
  const id = await submitToolCall(deps, caller, {
    ...idOf(key === undefined ? undefined : stemOfKey(key, caller, 'mcp')),
    session,
    agent,
    tool: tool.name,
    args,
    by: 'MCP',
    context: contextOf(caller, { agent }),
  });
  return answerOfTurn(call, { session, id }, 0, waitSeconds);
}

async function findTool(
  { deps, caller, agent }: McpRequest,
  name: string,
): Promise<ToolDescription | undefined> {
  const own = name.startsWith(`${CUSTOM}__`) ? name.slice(CUSTOM.length + 2) : undefined;
  const custom = own === undefined ? undefined : await deps.tools.find(caller.tenant, agent, own);
  return custom ?? (await deps.tools.find(caller.tenant, agent, name));
}

function exposedName(tools: McpRequest['deps']['tools'], name: string): string {
  return tools.isNative(name) || name.includes('__') ? name : `${CUSTOM}__${name}`;
}

function show(name: string, { description, replay, parameters }: ToolDescription): Tool {
  return {
    name,
    description,
    inputSchema: { ...parameters, type: 'object' },
    annotations: { readOnlyHint: replay === 'readonly', idempotentHint: replay === 'idempotent' },
  };
}
