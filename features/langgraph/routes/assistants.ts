/** `/v1/langgraph/assistants`: the agents of the tenant. */
import type { Assistant } from '@langchain/langgraph-sdk';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { callerOf } from '#api/server/auth.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { type AgentRow, findAgent, listAgents } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

const MAX_AGENTS = 1_000;

export const pageSchema = {
  limit: z.coerce.number().int().min(1).max(MAX_AGENTS).default(10),
  offset: z.coerce.number().int().min(0).max(MAX_AGENTS).default(0),
};
const search = z.looseObject({
  ...pageSchema,
  graph_id: z.string().max(200).nullish(),
  name: z.string().max(200).nullish(),
});

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  app.post(
    '/v1/langgraph/assistants/search',
    { config: { scope: 'read' }, schema: { hide: true, body: search } },
    async (request) => {
      const { limit, offset, graph_id, name } = request.body;
      const agents = await listAgents(forTenant(pool, callerOf(request).tenant), MAX_AGENTS, '');
      return agents
        .filter(({ key }) => key === (graph_id ?? key) && key.includes(name ?? ''))
        .slice(offset, offset + limit)
        .map(assistantOf);
    },
  );

  app.get(
    '/v1/langgraph/assistants/:key',
    { config: { scope: 'read' }, schema: { hide: true, params: z.object({ key: z.string() }) } },
    async (request) => {
      const { key } = request.params;
      const agent = isName(key) && (await findAgent(forTenant(pool, callerOf(request).tenant), key));
      if (!agent) throw new Failure('NotFound', 'There is no agent with this key');
      return assistantOf(agent);
    },
  );
}

function assistantOf({ key, revision, created_at, updated_at }: AgentRow): Assistant {
  return {
    assistant_id: key,
    graph_id: key,
    name: key,
    config: {},
    context: {},
    metadata: {},
    version: revision,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
