/** Provides connections to MCP servers in a worker, and their tools. */
import { join } from 'node:path';
import type { WorkerPart } from '#domain/feature.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { endLogins } from '#temporal/end-logins.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createMcpServers } from './activities/mcp-servers.ts';
import { runnableMcpTool } from './activities/run-mcp-tool.ts';
import { endedLogins } from './store/mcp-login-store.ts';
import { readMcpToolOfCall } from './store/mcp-tool-store.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { config, pool, changes, sealer, egress, machine } = core;
  const { boxes, bubblewrap, wall, environment, worker, onError } = machine;
  const mcp = createMcpServers({
    pool,
    changes,
    onError,
    egress,
    rulesOf: (tenant) => tenantEgress(pool, config.egress, tenant),
    sealer,
    resolve: core.resolveOf,
    wall,
    boxing: { boxes, bubblewrap, sandbox: config.sandbox },
    folders: join(config.stateDir, 'mcp-servers'),
    environment,
    worker,
  });
  return {
    tools: { mcp },
    addedTools: {
      isLikely: (name) => name.includes('__'),
      async find({ tenant, call }) {
        const found = await readMcpToolOfCall(forTenant(pool, tenant), call);
        return found && { tool: runnableMcpTool(found), isGone: found.found === null };
      },
    },
    // An API process may have died between a login and the decision, or found no worker.
    async recover() {
      const ended = await endedLogins(pool);
      await endLogins({ pool, reach: core.temporal }, ended);
      return ended.length;
    },
    close: () => mcp.close(),
  };
}
