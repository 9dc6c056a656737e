/**
 * Finds the session in which a chat continues. If the chat was handed over, that is the session of the agent that has
 * it now (DE-5).
 */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findHandoff } from './store.ts';

export function createApiPart({ pool }: ApiCore): ApiPart {
  return {
    deps: {
      // A sender that names an agent gets that one, whatever the route says.
      async sessionOfChat(tenant, session, { agent, channel, chat_id }) {
        if (agent !== undefined || channel === undefined || chat_id === undefined) return session;
        const route = await findHandoff(forTenant(pool, tenant), channel, chat_id);
        // If the agent was deleted, the chat belongs to its first session again.
        return route?.is_open ? route.session_key : session;
      },
    },
  };
}
