/** Serves tools: which there are, and a call outside a conversation. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { decideCall } from '#policy/decide-call.ts';
import { findAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findRulesOfAgent } from '#store/tenant-policy-store.ts';
import { listToolCalls } from '#store/turns/tool-call-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import { isName, isSessionKey } from '#domain/ids.ts';
import { tools } from '#domain/resource/tools.ts';
import type { toolInvocationSchema, toolSchema } from '#domain/schema/tool.ts';
import { type Caller, userOf } from '../server/auth.ts';
import type { Api, ApiDeps, ToolDescription } from '../deps.ts';
import { reachableSession } from '../found.ts';
import { stemOf } from '../server/idempotency.ts';
import { type Call, serveResource } from '../serve-resource.ts';
import { submitToolCall } from '../submit-tool-call.ts';
import { MAIN_AGENT } from '../tenant-defaults.ts';
import { hasEnded, waitForTurn } from '../turn-wait.ts';
import { contextOf, endOf, newId } from './turns/messages.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(
    app,
    tools,
    {
      async listTools({ tenant, query }) {
        const agent = await knownAgent(deps, tenant, query.agent);
        return onePage(await deps.tools.list(tenant, agent, query.dialect));
      },
      listBuiltinTools: async ({ query }) => onePage(deps.tools.native(query.dialect)),
      async getBuiltinTool({ params: { name } }) {
        const tool = deps.tools.native().find((one) => one.name === name || one.aliases.includes(name));
        return tool && show(tool);
      },
      async getTool({ tenant, params, query }) {
        const agent = await knownAgent(deps, tenant, query.agent);
        return show(await toolOr404(deps, tenant, agent, params.name));
      },
      async invokeTool(call) {
        const { answer, ended } = await invoke(deps, call, call.params.name, call.body);
        if (!ended) call.reply.code(202);
        return answer;
      },
      // GoClaw's form of the same.
      async invokeToolByName(call) {
        const { tool, action, args: input, dryRun, agentId: agent, channel, chatId: chat_id } = call.body;
        const args = action ? { ...input, action } : input;
        const { caller } = call;
        await toolOr404(deps, caller.tenant, agent ?? MAIN_AGENT, tool);
        if (dryRun) return decide(deps, caller, tool, { args, agent, channel });
        const { answer, ended } = await invoke(deps, call, tool, { args, agent, channel, chat_id });
        if (!ended) call.reply.code(202);
        return { ...answer, result: { output: answer.text } };
      },
    },
    async (caller, name, _params, { body }) =>
      deps.tools.find(caller.tenant, await agentOf(deps, caller, body), name),
  );
}

function onePage(all: readonly ToolDescription[]) {
  return { data: all.map(show), has_more: false, next_cursor: null };
}

type Invocation = Parameters<typeof contextOf>[1] & {
  readonly args: Readonly<Record<string, unknown>>;
  readonly session_key?: string | undefined;
};

async function invoke(
  deps: ApiDeps,
  {
    caller,
    query,
    request,
    reply,
  }: Pick<Call<typeof tools.operations.invokeTool>, 'caller' | 'query' | 'request' | 'reply'>,
  tool: string,
  body: Invocation,
): Promise<{ readonly answer: z.infer<typeof toolInvocationSchema>; readonly ended: boolean }> {
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
    {
      seconds: query.wait,
      signal: endOf(reply),
      isDone: (row) => hasEnded(row) || row.status === 'waiting_approval',
    },
  );
  return {
    answer: await showInvocation(deps, caller.tenant, session, turnId, turn),
    ended: hasEnded(turn),
  };
}

/** What the rules would decide on the call; nothing is run. */
async function decide(
  { pool, policy, rules }: ApiDeps,
  caller: Caller,
  name: string,
  { args, agent = MAIN_AGENT, channel }: Pick<Invocation, 'args' | 'agent' | 'channel'>,
) {
  const user = userOf(caller, undefined);
  const [rows, catalog] = await Promise.all([
    findRulesOfAgent(forTenant(pool, caller.tenant), agent, user ?? null),
    policy.catalogs.of(caller.tenant, agent),
  ]);
  if (!rows) throw new Failure('NotFound', 'There is no agent with this key');
  const tool = catalog.find(name)?.tool;
  if (!tool) throw new Failure('NotFound', tools.missing);
  const call = { ...rows, context: { user, channel }, user: user ?? null, tool, used: {} };
  const { verdict, reason } = decideCall(rules, catalog, policy.settings.tools, call, args);
  return { dry_run: true as const, decision: verdict.verdict, reason };
}

async function showInvocation(
  deps: ApiDeps,
  tenant: string,
  session: string,
  turnId: string,
  turn: TurnRow | undefined,
): Promise<z.infer<typeof toolInvocationSchema>> {
  const [call] = await listToolCalls(forTenant(deps.pool, tenant), turnId, 1, [-1, -1]);
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
  name: string,
): Promise<ToolDescription> {
  const tool = await deps.tools.find(tenant, agent, name);
  if (!tool) throw new Failure('NotFound', tools.missing);
  return tool;
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
