/** Tools of MCP servers in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { runnableMcpTool } from './activities/run-mcp-tool.ts';
import { readMcpToolOfCall } from './store/mcp-tool-store.ts';

export function createWorkerPart({ pool }: WorkerCore): WorkerPart {
  return {
    addedTools: {
      isLikely: (name) => name.includes('__'),
      async find({ tenant, call }) {
        const found = await readMcpToolOfCall(pool, tenant, call);
        return found && { tool: runnableMcpTool(found), isGone: found.found === null };
      },
    },
  };
}
