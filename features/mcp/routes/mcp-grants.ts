/** Serves grants on MCP servers from their rows. */
import { Failure, limitReached } from '#domain/errors.ts';
import { mcpGrants } from '../resource/mcp-grants.ts';
import { deleteMcpGrant, listMcpGrants, MAX_MCP_GRANTS, putMcpGrant } from '../store/mcp-grant-store.ts';
import { findMcpServer } from '../store/mcp-server-store.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { requireAgents } from '#api/require-agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

export function addRoutes(app: Api, { pool }: ApiDeps): void {
  serveResource(
    app,
    mcpGrants,
    {
      async listMcpGrants({ db, params }) {
        const server = await findMcpServer(db, params.name);
        return server && { data: await listMcpGrants(db, server.id) };
      },
      async setMcpGrant({ db, by, params: { name, kind, subject }, body }) {
        const server = await findMcpServer(db, name);
        if (!server) return undefined;
        if (kind === 'user' && Object.keys(body.config_overrides).length > 0)
          throw new Failure('Unprocessable', 'config_overrides are of the grants of agents');
        if (kind === 'agent') await requireAgents(db, [['path/subject', subject]]);
        const grant = await inTransaction(db, (tx) =>
          putMcpGrant(tx, server.id, { ...body, kind, subject, by }),
        );
        if (!grant) throw limitReached(MAX_MCP_GRANTS, `grants of ${name}`);
        return grant;
      },
      async deleteMcpGrant({ db, params: { name, ...grant } }) {
        const server = await findMcpServer(db, name);
        return server !== undefined && deleteMcpGrant(db, server.id, grant);
      },
    },
    ({ tenant }, name) => findMcpServer(forTenant(pool, tenant), name),
  );
}
