/** `/v1/models`: the agents of the tenant. */
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { callerOf } from '#api/server/auth.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { type AgentRow, findAgent, listAgents } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { sendOpenaiError } from '../openai-error.ts';

/** The protocol has no pages. */
const MAX_AGENTS = 1_000;

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  app.get(
    '/v1/models',
    { config: { scope: 'read' }, errorHandler: sendOpenaiError, schema: { hide: true } },
    async (request) => {
      const agents = await listAgents(forTenant(pool, callerOf(request).tenant), MAX_AGENTS, '');
      return { object: 'list', data: agents.map(shown) };
    },
  );

  app.get(
    '/v1/models/:key',
    {
      config: { scope: 'read' },
      errorHandler: sendOpenaiError,
      schema: { hide: true, params: z.object({ key: z.string() }) },
    },
    async (request) => {
      const { key } = request.params;
      const agent = isName(key) && (await findAgent(forTenant(pool, callerOf(request).tenant), key));
      if (!agent) throw new Failure('NotFound', 'There is no agent with this key');
      return shown(agent);
    },
  );
}

function shown({ key, created_at: at }: AgentRow): object {
  return { id: key, object: 'model', created: Math.floor(at.getTime() / 1000), owned_by: 'tempoclaw' };
}
