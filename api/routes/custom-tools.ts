/** Custom tools (CU-1): made, changed and removed here, and usable by the next step of any turn. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { catalogedTool } from '#policy/custom-tools/custom-tool.ts';
import { readArguments } from '#policy/read-arguments.ts';
import { findAgent } from '#store/agent-store.ts';
import {
  type CustomToolRow,
  deleteCustomTool,
  findCustomTool,
  insertCustomTool,
  listCustomTools,
  MAX_CUSTOM_TOOLS,
  type ToolToWrite,
  updateCustomTool,
} from '#store/custom-tool-store.ts';
import { findTenantPolicy } from '#store/tenant-store.ts';
import { Failure } from '#domain/errors.ts';
import {
  customToolChangeSchema,
  customToolCreateSchema,
  customToolSchema,
  customToolTestSchema,
  customToolVerdictSchema,
} from '#domain/schema/custom-tool.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { callerOf, signatureOf } from '../auth.ts';
import { changedTool, checkTool, isSameTool, sealEnv, requiredTexts } from '../custom-tool-definition.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { MAIN_AGENT } from '../tenant-care.ts';

const idParams = z.object({ id: z.uuid() });
/** REFERENCE §12: what is out of range is the default. */
const DEFAULT_LIMIT = 50;
/** Two writers at once: the loser looks again, but not for ever. */
const CHANGE_TRIES = 5;
/** REFERENCE §12. */
const MAX_BODY_BYTES = 1_048_576;

export function addCustomToolRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addCreate(app, deps);
  addChange(app, deps);
  addDelete(app, deps);
  addTest(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/tools/custom',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        operationId: 'listCustomTools',
        summary: 'List custom tools',
        querystring: z.strictObject({
          agent_id: nameSchema.optional().meta({ description: 'Only those of this agent' }),
          name: nameSchema.optional().meta({ description: 'Of exactly this name' }),
          search: z.string().max(200).optional().meta({ description: 'Part of a name or description' }),
          limit: z.coerce.number().int().min(1).max(200).catch(DEFAULT_LIMIT),
          offset: z.coerce.number().int().min(0).max(100_000).catch(0),
        }),
        response: {
          200: z.object({
            tools: z.array(customToolSchema),
            total: z.int(),
            limit: z.int(),
            offset: z.int(),
          }),
          ...problems(),
        },
      },
    },
    async (request) => {
      const { agent_id: agent, name, search, limit, offset } = request.query;
      const { tenant } = callerOf(request);
      const filter = { agent, name, search, limit, offset };
      const { tools, total } = await listCustomTools(deps.pool, tenant, filter);
      return { tools: tools.map(show), total, limit, offset };
    },
  );

  app.get(
    '/v1/tools/custom/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['tools'],
        operationId: 'getCustomTool',
        summary: 'Get a custom tool',
        params: idParams,
        response: { 200: customToolSchema, ...problems('NotFound') },
      },
    },
    async (request) => show(await toolOr404(deps, callerOf(request).tenant, request.params.id)),
  );
}

function addCreate(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/tools/custom',
    {
      config: { scope: 'admin' },
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        tags: ['tools'],
        operationId: 'createCustomTool',
        summary: 'Make a tool of a shell command',
        description:
          'Each `{{.key}}` of the command becomes one quoted argument. Agents have it from their next step on.',
        body: customToolCreateSchema,
        response: {
          201: customToolSchema,
          ...problems('Conflict', 'TooLarge', 'Unprocessable'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { env, parameters = requiredTexts(request.body.command), ...fields } = request.body;
      const tool: ToolToWrite = {
        ...fields,
        id: randomUUID(),
        parameters,
        env_names: Object.keys(env ?? {}),
      };
      await checkTool(deps, caller.tenant, tool);
      const row = await insertCustomTool(
        deps.pool,
        caller.tenant,
        { ...tool, env: sealEnv(deps, caller.tenant, tool.id, env) },
        signatureOf(caller),
      );
      if (row === 'taken') throw taken(tool.name);
      if (row === 'full')
        throw new Failure(
          'Conflict',
          `A tenant has at most ${MAX_CUSTOM_TOOLS} custom tools; delete one first`,
        );
      return reply.code(201).header('location', `/v1/tools/custom/${row.id}`).send(show(row));
    },
  );
}

function addChange(app: Api, deps: ApiDeps): void {
  for (const [method, operationId] of [
    ['PATCH', 'updateCustomTool'],
    ['PUT', 'putCustomTool'],
  ] as const)
    app.route({
      method,
      url: '/v1/tools/custom/:id',
      config: { scope: 'admin' },
      bodyLimit: MAX_BODY_BYTES,
      schema: {
        tags: ['tools'],
        operationId,
        summary: 'Change a custom tool',
        description:
          'Given fields replace the old ones whole, `env` with all its variables; null removes an optional one. Calls that were judged by the tool as it was do not run.',
        params: idParams,
        body: customToolChangeSchema,
        response: {
          200: customToolSchema.extend({ status: z.literal('updated') }),
          ...problems('NotFound', 'Conflict', 'TooLarge', 'Unprocessable'),
        },
      },
      async handler(request) {
        const { tenant } = callerOf(request);
        const { env, ...given } = request.body;
        for (let tries = 1; tries <= CHANGE_TRIES; tries += 1) {
          const old = await toolOr404(deps, tenant, request.params.id);
          const tool = changedTool(old, given, env);
          if (isSameTool(old, tool, env)) return { ...show(old), status: 'updated' as const };
          await checkTool(deps, tenant, tool);
          const change = env === undefined ? tool : { ...tool, env: sealEnv(deps, tenant, tool.id, env) };
          const row = await updateCustomTool(deps.pool, tenant, change, old.revision);
          if (row === 'taken') throw taken(tool.name);
          if (row !== 'stale') return { ...show(row), status: 'updated' as const };
        }
        throw new Failure('Conflict', 'The tool is being changed by others at the same time; try again');
      },
    });
}

function addDelete(app: Api, deps: ApiDeps): void {
  app.delete(
    '/v1/tools/custom/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['tools'],
        operationId: 'deleteCustomTool',
        summary: 'Delete a custom tool',
        description: 'Calls of it that have not begun end with `NotFound`; one that runs goes on.',
        params: idParams,
        response: { 200: z.object({ status: z.literal('deleted') }), ...problems('NotFound') },
      },
    },
    async (request) => {
      if (!(await deleteCustomTool(deps.pool, callerOf(request).tenant, request.params.id))) throw notFound();
      return { status: 'deleted' as const };
    },
  );
}

function addTest(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/tools/custom/:id/test',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['tools'],
        operationId: 'testCustomTool',
        summary: 'See what a custom tool would run',
        description: 'The rendered command and the verdict on it for an agent. Runs nothing.',
        params: idParams,
        body: customToolTestSchema,
        response: { 200: customToolVerdictSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const row = await toolOr404(deps, tenant, request.params.id);
      const key = request.body.agent_id ?? row.agent_id ?? MAIN_AGENT;
      const agent = await findAgent(deps.pool, tenant, key);
      if (!agent) throw new Failure('NotFound', `There is no agent ${key}`);
      const tool = catalogedTool(row);
      const read = readArguments(tool, undefined, request.body.args);
      if (!read.ok)
        return {
          command: null,
          decision: 'deny' as const,
          step: 'arguments',
          rule: null,
          reason: read.message,
        };
      const verdict = deps.rules.judge({
        agent: agent.config,
        tenant_policy: await findTenantPolicy(deps.pool, tenant),
        context: {},
        user: null,
        tool,
        args: read.args,
        allowlist: [],
      });
      return {
        command: tool.summary?.(read.input) ?? null,
        decision: verdict.verdict,
        step: verdict.step,
        rule: verdict.rule,
        reason: verdict.verdict === 'allow' ? 'it would run without asking' : verdict.reason,
      };
    },
  );
}

function taken(name: string): Failure {
  return new Failure(
    'Conflict',
    `There is a custom tool ${name} already, for the same agent or for all; PUT it`,
  );
}

async function toolOr404(deps: ApiDeps, tenant: string, id: string): Promise<CustomToolRow> {
  const row = await findCustomTool(deps.pool, tenant, id);
  if (!row) throw notFound();
  return row;
}

function notFound(): Failure {
  return new Failure('NotFound', 'There is no custom tool with this id');
}

function show(row: CustomToolRow): z.infer<typeof customToolSchema> {
  return {
    ...row,
    parameters: { ...row.parameters },
    env_names: [...row.env_names],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
