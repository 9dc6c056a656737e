/** MCP servers in the API: logins at them, and rows for those of the settings. */
import type { ApiCore } from '#api/api-parts.ts';
import type { FeatureDeps } from '#api/deps.ts';
import type { ApiPart } from '#domain/feature.ts';
import { Failure } from '#domain/errors.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createMcpLogins, type McpLogins } from './activities/oauth.ts';
import { mcpClientId, mcpRedirectUrl } from './contract/mcp-login.ts';
import { findMcpServer } from './store/mcp-server-store.ts';
import { syncSettingsServers } from './routes/settings-servers.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    readonly mcpLogins: McpLogins & { readonly begin: BeginLogin };
  }
}

type BeginLogin = NonNullable<FeatureDeps['beginLogin']>;

export function createApiPart({ config, pool, secrets, egress, log }: ApiCore): ApiPart {
  const { sealer } = secrets;
  const rulesOf = (tenant: string) => tenantEgress(pool, config.egress, tenant);
  const mcpLogins = createMcpLogins({ pool, sealer, egress, rulesOf });
  const beginLogin: BeginLogin = async ({ tenant, server: name, user }, base) => {
    const server = await findMcpServer(forTenant(pool, tenant), name);
    if (!server) throw new Failure('NotFound', `There is no MCP server ${name} any more`);
    if (server.config.transport === 'stdio')
      throw new Failure('Conflict', `${name} is a program, and programs have no login; give it env`);
    return mcpLogins.start(
      { ...server, tenant },
      user,
      mcpRedirectUrl(base),
      mcpClientId(config.api.publicUrl),
    );
  };
  return {
    deps: { mcpLogins: { ...mcpLogins, begin: beginLogin }, beginLogin },
    start: () => syncSettingsServers({ pool, secrets }, config.mcp.servers, (problem) => log.warn(problem)),
  };
}
