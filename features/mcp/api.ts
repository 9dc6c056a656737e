/** MCP servers in the API: logins at them, and rows for those of the settings. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { createMcpLogins, type McpLogins } from './activities/oauth.ts';
import { syncSettingsServers } from './routes/settings-servers.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    readonly mcpLogins: McpLogins;
  }
}

export function createApiPart({ config, pool, secrets, egress, log }: ApiCore): ApiPart {
  const { sealer } = secrets;
  const rulesOf = (tenant: string) => tenantEgress(pool, config.egress, tenant);
  return {
    deps: { mcpLogins: createMcpLogins({ pool, sealer, egress, rulesOf }) },
    start: () => syncSettingsServers({ pool, secrets }, config.mcp.servers, (problem) => log.warn(problem)),
  };
}
