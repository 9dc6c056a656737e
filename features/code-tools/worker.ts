/** Runs the calls of tools that hosts have registered. */
import type { WorkerPart } from '#domain/feature.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { ToolResult } from '#domain/tool.ts';
import { createGoneTool } from '#policy/gone-tool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { activitiesOnceOf } from '#temporal/activity-once.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { catalogedTool } from './code-tool.ts';
import { createHookHost } from './hook-on-host.ts';
import { runOnHost } from './run-on-host.ts';
import { hasToolHosts, readHostAccess, readToolOfCall } from './store.ts';

export function createWorkerPart({ pool, sealer, resolveOf, temporal }: WorkerCore): WorkerPart {
  const once = activitiesOnceOf(temporal.clients);

  return {
    hasTemporalClients: () => hasToolHosts(pool),
    extends: { hookHost: createHookHost({ pool, sealer, resolveOf, once }) },
    addedTools: {
      isLikely: (name) => !name.includes('__'),
      async find({ tenant, call }) {
        const db = forTenant(pool, tenant);
        const row = await readToolOfCall(db, call);
        if (!row) return undefined;
        const { name } = row.definition;
        if (row.is_deleted) return { tool: createGoneTool(name, 'was deleted'), isGone: false };
        const run = (_deps: object, input: unknown, call: RunningCall): Promise<ToolResult> =>
          runOnHost({
            readAccess: () => readHostAccess(db, sealer, row),
            resolveOf,
            once,
            row,
            input,
            call,
          });
        // A repeated run finds what a lost attempt began.
        return { tool: { ...catalogedTool(row), run, probe: run }, isGone: false };
      },
    },
  };
}
