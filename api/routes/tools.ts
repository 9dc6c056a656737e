/** Tools: which there are, and a call outside of a conversation. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { listToolCalls } from '#activities/store/tool-call-store.ts';
import type { TurnRow } from '#activities/store/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import { pageSchema } from '#domain/schema/scalars.ts';
import { toolInvocationSchema, toolInvokeSchema, toolSchema } from '#domain/schema/tool.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { paramOf } from '../found.ts';
import { stemOf } from '../idempotency.ts';
import { problems } from '../openapi.ts';
import { submitMessage } from '../submit-message.ts';
import { hasEnded, waitForTurn } from '../turn-wait.ts';
import { contextOf, endOf, newId, waitQuery } from './messages.ts';

const DEFAULT_WAIT_SECONDS = 60;

export function addToolRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/tools',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        summary: 'List tools with the JSON Schema of their arguments',
        querystring: z.strictObject({}),
        response: { 200: pageSchema(toolSchema), ...problems() },
      },
    },
    async () => ({
      data: deps.tools
        .list()
        .map((tool) => ({ ...tool, parameters: { ...tool.parameters }, aliases: [...tool.aliases] })),
      has_more: false,
      next_cursor: null,
    }),
  );

  app.get(
    '/v1/tools/:name',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        summary: 'Get a tool',
        params: z.object({ name: z.string() }),
        response: { 200: toolSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const tool = findTool(deps, request.params.name);
      return { ...tool, parameters: { ...tool.parameters }, aliases: [...tool.aliases] };
    },
  );

  addInvoke(app, deps);
}

function addInvoke(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/tools/:name/invoke',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void findTool(deps, paramOf(request, 'name')),
      schema: {
        tags: ['tools'],
        summary: 'Run a tool',
        description:
          'The call is a turn of its own: policy, approvals, ledger and the Temporal UI apply as for an agent. 200 when it has ended, 202 while it waits for an approval or still runs.',
        params: z.object({ name: z.string() }),
        querystring: z.strictObject({ wait: waitQuery.default(DEFAULT_WAIT_SECONDS) }),
        body: toolInvokeSchema,
        response: {
          200: toolInvocationSchema,
          202: toolInvocationSchema,
          ...problems('NotFound', 'Conflict', 'QueueFull', 'IdempotencyMismatch'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { args, session_key, ...context } = request.body;
      const checked = deps.tools.check(request.params.name, args);
      if (!checked.ok)
        throw new Failure(checked.code === 'NotFound' ? 'NotFound' : 'InvalidInput', checked.message);
      // With an Idempotency-Key, the session too follows from it.
      const session = session_key ?? `tool-${stemOf(request, caller, 'tool') ?? randomUUID()}`;
      const { receipt } = await submitMessage(deps, caller.tenant, {
        ...newId(request, caller, 'tool', session),
        session,
        text: `${checked.tool} by the API`,
        mode: 'queue',
        context: contextOf(caller, context),
        calls: [{ tool: request.params.name, args }],
      });
      const turn = await waitForTurn(
        deps,
        { tenant: caller.tenant, session, id: receipt.turn_id },
        {
          seconds: request.query.wait,
          signal: endOf(request),
          isDone: (row) => hasEnded(row) || row.status === 'waiting_approval',
        },
      );
      const answer = await showInvocation(deps, caller.tenant, session, receipt.turn_id, turn);
      return reply.code(hasEnded(turn) ? 200 : 202).send(answer);
    },
  );
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

/** By name or alias. */
function findTool(deps: ApiDeps, name: unknown): ReturnType<ApiDeps['tools']['list']>[number] {
  const tool = deps.tools
    .list()
    .find((one) => one.name === name || (typeof name === 'string' && one.aliases.includes(name)));
  if (!tool) throw new Failure('NotFound', 'There is no tool with this name; GET /v1/tools lists them');
  return tool;
}
