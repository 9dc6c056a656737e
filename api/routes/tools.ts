/** Serves tools: which there are, and a call outside a conversation. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findAgent } from '#store/agent-store.ts';
import { listToolCalls } from '#store/tool-call-store.ts';
import type { TurnRow } from '#store/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import { isName, isSessionKey } from '#domain/ids.ts';
import { nameSchema, pageSchema } from '#domain/schema/scalars.ts';
import {
  dialectSchema,
  seedInvocationSchema,
  seedInvokeSchema,
  toolInvocationSchema,
  toolInvokeSchema,
  toolSchema,
} from '#domain/schema/tool.ts';
import { forTenant } from '#store/tenant-db.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, callerOf } from '../auth.ts';
import type { Api, ApiDeps, ToolDescription } from '../deps.ts';
import { explainFor } from '../explain-for.ts';
import { paramOf, reachableSession } from '../found.ts';
import { stemOf } from '../idempotency.ts';
import { problems } from '../openapi.ts';
import { submitToolCall } from '../submit-tool-call.ts';
import { MAIN_AGENT } from '../tenant-defaults.ts';
import { hasEnded, waitForTurn } from '../turn-wait.ts';
import { contextOf, endOf, newId, waitQuery } from './messages.ts';

const DEFAULT_WAIT_SECONDS = 60;

const agentQuery = z.strictObject({
  agent: nameSchema.optional().describe('With the tools of its own; else those of all agents'),
  dialect: dialectSchema.optional().describe('In the words that agents with these `tool_names` are told'),
});

export function addRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/tools',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        operationId: 'listTools',
        summary: 'List tools with the JSON Schema of their arguments',
        querystring: agentQuery,
        response: { 200: pageSchema(toolSchema), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const agent = await knownAgent(deps, tenant, request.query.agent);
      const data = (await deps.tools.list(tenant, agent, request.query.dialect)).map(show);
      return { data, has_more: false, next_cursor: null };
    },
  );

  app.get(
    '/v1/tools/builtin',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        operationId: 'listBuiltinTools',
        summary: 'List the tools that are part of TempoClaw',
        description:
          'GoClaw’s address; the same as `GET /v1/tools` without what tenants and MCP servers bring.',
        querystring: agentQuery.pick({ dialect: true }),
        response: { 200: pageSchema(toolSchema), ...problems() },
      },
    },
    async ({ query }) => ({
      data: deps.tools.native(query.dialect).map(show),
      has_more: false,
      next_cursor: null,
    }),
  );

  app.get(
    '/v1/tools/builtin/:name',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        operationId: 'getBuiltinTool',
        summary: 'Get a tool that is part of TempoClaw',
        params: z.object({ name: z.string() }),
        response: { 200: toolSchema, ...problems('NotFound') },
      },
    },
    async ({ params: { name } }) => {
      const tool = deps.tools.native().find((one) => one.name === name || one.aliases.includes(name));
      if (!tool) throw noTool();
      return show(tool);
    },
  );

  app.get(
    '/v1/tools/:name',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        operationId: 'getTool',
        summary: 'Get a tool',
        params: z.object({ name: z.string() }),
        querystring: agentQuery.pick({ agent: true }),
        response: { 200: toolSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const agent = await knownAgent(deps, tenant, request.query.agent);
      return show(await toolOr404(deps, tenant, agent, request.params.name));
    },
  );

  addInvoke(app, deps);
  addSeedInvoke(app, deps);
}

function addInvoke(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/tools/:name/invoke',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => {
        const caller = callerOf(request);
        const { tenant } = caller;
        await toolOr404(deps, tenant, await agentOf(deps, caller, request.body), paramOf(request, 'name'));
      },
      schema: {
        tags: ['tools'],
        operationId: 'invokeTool',
        summary: 'Run a tool',
        description:
          'The call is a turn of its own: policy, approvals, ledger and the Temporal UI apply as for an agent. 200 when it has ended, 202 while it waits for an approval or still runs.',
        params: z.object({ name: z.string() }),
        querystring: z.strictObject({ wait: waitQuery.default(DEFAULT_WAIT_SECONDS) }),
        body: toolInvokeSchema,
        response: {
          200: toolInvocationSchema,
          202: toolInvocationSchema,
          ...problems('NotFound', 'Conflict', 'QueueFull'),
        },
      },
    },
    async (request, reply) => {
      const { answer, ended } = await invoke(
        deps,
        request,
        request.params.name,
        request.body,
        waitOf(request, reply),
      );
      return reply.code(ended ? 200 : 202).send(answer);
    },
  );
}

/** The form of the same that GoClaw uses. */
function addSeedInvoke(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/tools/invoke',
    {
      config: { scope: 'run', repeatable: true },
      schema: {
        tags: ['tools'],
        operationId: 'invokeToolByName',
        summary: 'Run a tool, in GoClaw’s form',
        description:
          '`POST /v1/tools/{name}/invoke` with GoClaw’s fields. With `dryRun` nothing is run: the answer says what would be decided.',
        querystring: z.strictObject({ wait: waitQuery.default(DEFAULT_WAIT_SECONDS) }),
        body: seedInvokeSchema,
        response: {
          200: seedInvocationSchema,
          202: seedInvocationSchema,
          ...problems('NotFound', 'Conflict', 'QueueFull'),
        },
      },
    },
    async (request, reply) => {
      const { tool, action, args: input, dryRun, agentId: agent, channel, chatId: chat_id } = request.body;
      const args = action ? { ...input, action } : input;
      const caller = callerOf(request);
      await toolOr404(deps, caller.tenant, agent ?? MAIN_AGENT, tool);
      if (dryRun) {
        const { decision, reason } = await explainFor(deps, caller, 'tool', {
          tool,
          args,
          agent,
          context: { channel },
        });
        return reply.code(200).send({ dry_run: true, decision, reason });
      }
      const body = { args, agent, channel, chat_id };
      const { answer, ended } = await invoke(deps, request, tool, body, waitOf(request, reply));
      return reply.code(ended ? 200 : 202).send({ ...answer, result: { output: answer.text } });
    },
  );
}

type Invocation = Parameters<typeof contextOf>[1] & {
  readonly args: Readonly<Record<string, unknown>>;
  readonly session_key?: string | undefined;
};

type Wait = Omit<Parameters<typeof waitForTurn>[2], 'isDone'>;

function waitOf({ query }: FastifyRequest<{ Querystring: { wait: number } }>, reply: FastifyReply): Wait {
  return { seconds: query.wait, signal: endOf(reply) };
}

async function invoke(
  deps: ApiDeps,
  request: FastifyRequest,
  tool: string,
  body: Invocation,
  wait: Wait,
): Promise<{ readonly answer: z.infer<typeof toolInvocationSchema>; readonly ended: boolean }> {
  const caller = callerOf(request);
  const { args, session_key, ...context } = body;
  const agent = await agentOf(deps, caller, body);
  // With an Idempotency-Key, the session is also derived from it.
  const session = session_key ?? `tool-${stemOf(request, caller, 'tool') ?? randomUUID()}`;
  const turnId = await submitToolCall(deps, caller, {
    ...newId(request, caller, 'tool', session),
    session,
    agent,
    tool,
    args,
    by: 'the API',
    context: contextOf(caller, context),
  });
  const turn = await waitForTurn(
    deps,
    { tenant: caller.tenant, session, id: turnId },
    { ...wait, isDone: (row) => hasEnded(row) || row.status === 'waiting_approval' },
  );
  return {
    answer: await showInvocation(deps, caller.tenant, session, turnId, turn),
    ended: hasEnded(turn),
  };
}

async function showInvocation(
  deps: ApiDeps,
  tenant: string,
  session: string,
  turnId: string,
  turn: TurnRow | undefined,
): Promise<z.infer<typeof toolInvocationSchema>> {
  const [call] = await listToolCalls(deps.pool, tenant, turnId, 1, [-1, -1]);
  const about = { session_key: session, turn_id: turnId, status: turn?.status ?? 'queued' };
  if (call)
    return {
      ...about,
      call_id: call.id,
      ok: call.ok,
      code: call.code,
      text: call.result,
      approval_id: call.approval_id,
    };
  const error = turn?.error;
  return {
    ...about,
    call_id: null,
    ok: error ? false : null,
    code: error?.code ?? null,
    text: error?.message ?? null,
    approval_id: null,
  };
}

/** Finds a tool by name or alias among those that the agent may have. */
async function toolOr404(
  deps: ApiDeps,
  tenant: string,
  agent: string,
  name: unknown,
): Promise<ToolDescription> {
  const tool = typeof name === 'string' ? await deps.tools.find(tenant, agent, name) : undefined;
  if (!tool) throw noTool();
  return tool;
}

function noTool(): Failure {
  return new Failure('NotFound', 'There is no tool with this name; GET /v1/tools lists them');
}

/** A requested agent must exist; without one, the agent is `main`. */
async function knownAgent(deps: ApiDeps, tenant: string, agent: string | undefined): Promise<string> {
  if (agent !== undefined && !(await findAgent(forTenant(deps.pool, tenant), agent)))
    throw new Failure('NotFound', `There is no agent ${agent}`);
  return agent ?? MAIN_AGENT;
}

/**
 * The agent of the call, from a body that may not have been checked yet: the body's agent, its session's agent, or
 * `main`.
 */
async function agentOf(deps: ApiDeps, caller: Caller, body: unknown): Promise<string> {
  const { agent, session_key } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (isName(agent)) return agent;
  const session = isSessionKey(session_key)
    ? await reachableSession(deps.pool, caller, session_key)
    : undefined;
  return session?.agent_key ?? MAIN_AGENT;
}

function show(tool: ToolDescription): z.infer<typeof toolSchema> {
  return { ...tool, parameters: { ...tool.parameters }, aliases: [...tool.aliases] };
}
