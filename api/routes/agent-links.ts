/** Agent links: who may hand work to whom (DE-1). */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  type AgentLinkRow,
  deleteAgentLink,
  findAgentLink,
  insertAgentLink,
  listAgentLinks,
  updateAgentLink,
} from '#store/agent-link-store.ts';
import { findAgent } from '#store/agent-store.ts';
import { Failure } from '#domain/errors.ts';
import { isMessageId } from '#domain/ids.ts';
import { agentLinkCreateSchema, agentLinkPatchSchema, agentLinkSchema } from '#domain/schema/agent-link.ts';
import { nameSchema, pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { paramOf } from '../found.ts';
import { problems } from '../openapi.ts';
import { isTextKey, readPage } from '../pages.ts';

const idParams = z.object({ id: z.string() });

export function addAgentLinkRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addCreate(app, deps);
  addChanges(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/agent-links',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['agents'],
        operationId: 'listAgentLinks',
        summary: 'List the links between agents',
        querystring: z.strictObject({
          ...pageQuery,
          agent: nameSchema.optional().meta({ description: 'Those that it is one end of' }),
        }),
        response: { 200: pageSchema(agentLinkSchema), ...problems() },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      return readPage(
        request.query,
        (limit, after) =>
          listAgentLinks(deps.pool, tenant, request.query.agent, limit, String(after?.[0] ?? '')),
        (row) => [row.id],
        showLink,
        isTextKey,
      );
    },
  );

  app.get(
    '/v1/agent-links/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['agents'],
        operationId: 'getAgentLink',
        summary: 'Get a link between two agents',
        params: idParams,
        response: { 200: agentLinkSchema, ...problems('NotFound') },
      },
    },
    async (request) => showLink(await linkOr404(deps, request)),
  );
}

function addCreate(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/agent-links',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'createAgentLink',
        summary: 'Let one agent give work to another',
        body: agentLinkCreateSchema,
        response: {
          201: agentLinkSchema,
          ...problems('Conflict', 'Unprocessable'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { description, ...link } = request.body;
      const id = `alk_${randomBytes(9).toString('hex')}`;
      const given = { ...link, id, description: description ?? null };
      const row = await insertAgentLink(deps.pool, caller.tenant, given, signatureOf(caller));
      if (row === 'no_agent') throw await noAgent(deps, caller.tenant, [link.source, link.target]);
      if (row === 'there')
        throw new Failure(
          'Conflict',
          `There is a link from ${link.source} to ${link.target} already; PATCH it to change it`,
        );
      return reply.code(201).header('location', `/v1/agent-links/${row.id}`).send(showLink(row));
    },
  );
}

function addChanges(app: Api, deps: ApiDeps): void {
  app.patch(
    '/v1/agent-links/:id',
    {
      config: { scope: 'admin' },
      preValidation: async (request) => void (await linkOr404(deps, request)),
      schema: {
        tags: ['agents'],
        operationId: 'updateAgentLink',
        summary: 'Change a link between two agents',
        description: 'Given fields replace the old ones whole. Work that goes over it already goes on.',
        params: idParams,
        body: agentLinkPatchSchema,
        response: { 200: agentLinkSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { direction, status, max_concurrent, settings, description } = request.body;
      const row = await updateAgentLink(deps.pool, callerOf(request).tenant, request.params.id, {
        direction,
        status,
        max_concurrent,
        settings,
        description,
      });
      if (!row) throw notFound();
      return showLink(row);
    },
  );

  app.delete(
    '/v1/agent-links/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['agents'],
        operationId: 'deleteAgentLink',
        summary: 'Delete a link between two agents',
        description: 'Work that goes over it already goes on.',
        params: idParams,
        response: { 204: z.null(), ...problems('NotFound') },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      if (!isMessageId(id) || !(await deleteAgentLink(deps.pool, callerOf(request).tenant, id)))
        throw notFound();
      return reply.code(204).send(null);
    },
  );
}

async function linkOr404(deps: ApiDeps, request: FastifyRequest): Promise<AgentLinkRow> {
  const id = paramOf(request, 'id');
  const row = isMessageId(id) ? await findAgentLink(deps.pool, callerOf(request).tenant, id) : undefined;
  if (!row) throw notFound();
  return row;
}

function notFound(): Failure {
  return new Failure('NotFound', 'There is no agent link with this id');
}

/** Settings that somebody broke by hand are shown as they are, unless they are no object at all. */
function showLink(row: AgentLinkRow): z.infer<typeof agentLinkSchema> {
  const { settings } = row;
  const isObject = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
  return {
    ...row,
    settings: isObject ? { ...settings } : { unreadable: true },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

async function noAgent({ pool }: ApiDeps, tenant: string, keys: readonly string[]): Promise<Failure> {
  const found = await Promise.all(keys.map((key) => findAgent(pool, tenant, key)));
  const missing = keys.filter((_, index) => !found[index]).map((key) => `"${key}"`);
  return new Failure('Unprocessable', `There is no agent ${missing.join(', no agent ') || 'of this key'}`);
}
