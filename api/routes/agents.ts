/** Agents: who answers. A change is a new revision; turns that run keep the one they began with. */
import { z } from 'zod';
import {
  type AgentRow,
  deleteAgent,
  findAgent,
  insertAgent,
  listAgents,
  updateAgent,
} from '#store/agent-store.ts';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { agentConfigSchema, agentCreateSchema, agentPatchSchema, agentSchema } from '#domain/schema/agent.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import type { FastifyRequest } from 'fastify';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { paramOf } from '../found.ts';
import { problems } from '../openapi.ts';
import { isTextKey, readPage } from '../pages.ts';
import { MAIN_AGENT } from '../tenant-care.ts';

const keyParams = z.object({ key: z.string() });
/** Two writers at once: the loser looks again, but not for ever. */
const PATCH_TRIES = 5;

export function addAgentRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addCreate(app, deps);
  addPatch(app, deps);
  addDelete(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/agents',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['agents'],
        operationId: 'listAgents',
        summary: 'List agents',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(agentSchema), ...problems() },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      return readPage(
        request.query,
        (limit, after) => listAgents(deps.pool, tenant, limit, String(after?.[0] ?? '')),
        (row) => [row.key],
        showAgent,
        isTextKey,
      );
    },
  );

  app.get(
    '/v1/agents/:key',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['agents'],
        operationId: 'getAgent',
        summary: 'Get an agent',
        params: keyParams,
        response: { 200: agentSchema, ...problems('NotFound') },
      },
    },
    async (request) => showAgent(await agentOr404(deps, request)),
  );
}

function addCreate(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/agents',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'createAgent',
        summary: 'Make an agent',
        body: agentCreateSchema,
        response: {
          201: agentSchema,
          ...problems('Conflict', 'Unprocessable'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const config = toConfig(request.body);
      checkModels(deps, config);
      const row = await insertAgent(deps.pool, caller.tenant, config, signatureOf(caller));
      if (!row)
        throw new Failure('Conflict', `There is an agent ${config.key} already; PATCH it to change it`);
      return reply.code(201).header('location', `/v1/agents/${row.key}`).send(showAgent(row));
    },
  );
}

function addPatch(app: Api, deps: ApiDeps): void {
  app.patch(
    '/v1/agents/:key',
    {
      config: { scope: 'admin' },
      preValidation: async (request) => void (await agentOr404(deps, request)),
      schema: {
        tags: ['agents'],
        operationId: 'updateAgent',
        summary: 'Change an agent',
        description: 'Given fields replace the old ones whole; null removes an optional one.',
        params: keyParams,
        body: agentPatchSchema,
        response: { 200: agentSchema, ...problems('NotFound', 'Conflict', 'Unprocessable') },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      for (let tries = 1; tries <= PATCH_TRIES; tries += 1) {
        const old = await agentOr404(deps, request);
        const config = merge(old.config, request.body);
        checkModels(deps, config);
        const row = await updateAgent(deps.pool, caller.tenant, old.revision, config, signatureOf(caller));
        if (row) return showAgent(row);
      }
      throw new Failure('Conflict', 'The agent is being changed by others at the same time; try again');
    },
  );
}

function addDelete(app: Api, deps: ApiDeps): void {
  app.delete(
    '/v1/agents/:key',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'deleteAgent',
        summary: 'Delete an agent',
        description:
          'Sessions that have it go on with its last revision; new ones cannot name it. `main` stays.',
        params: keyParams,
        response: { 204: z.null(), ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const { key } = request.params;
      if (key === MAIN_AGENT)
        throw new Failure(
          'Conflict',
          'The agent main cannot be deleted: sessions without an agent are its; PATCH it',
        );
      const gone = isName(key) && (await deleteAgent(deps.pool, callerOf(request).tenant, key));
      if (!gone) throw notFound();
      return reply.code(204).send(null);
    },
  );
}

async function agentOr404(deps: ApiDeps, request: FastifyRequest): Promise<AgentRow> {
  const key = paramOf(request, 'key');
  const row = isName(key) ? await findAgent(deps.pool, callerOf(request).tenant, key) : undefined;
  if (!row) throw notFound();
  return row;
}

function notFound(): Failure {
  return new Failure('NotFound', 'There is no agent with this key');
}

function checkModels(deps: ApiDeps, config: AgentConfig): void {
  const refs = typeof config.model === 'string' ? [config.model] : config.model;
  const errors = refs.flatMap((ref, at) => {
    const problem = deps.models.problem(ref);
    const pointer = typeof config.model === 'string' ? 'body/model' : `body/model/${at}`;
    return problem === undefined ? [] : [{ pointer, message: problem }];
  });
  if (errors[0]) throw new Failure('Unprocessable', errors[0].message, { errors });
}

function merge(old: AgentConfig, patch: z.infer<typeof agentPatchSchema>): AgentConfig {
  const merged = Object.entries({ ...old, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return toConfig(agentConfigSchema.parse(Object.fromEntries(merged)));
}

/** Without the fields that are there but undefined, as JSON would have it. */
function toConfig(given: z.infer<typeof agentConfigSchema>): AgentConfig {
  return JSON.parse(JSON.stringify(given)) as AgentConfig;
}

function showAgent(row: AgentRow): z.infer<typeof agentSchema> {
  return {
    ...agentConfigSchema.parse(row.config),
    revision: row.revision,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
