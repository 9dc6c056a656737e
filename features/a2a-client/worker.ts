/** Runs the calls of remote agents in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import { openArtifacts } from '#features/artifacts/index.ts';
import { createGoneTool } from '#policy/gone-tool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { catalogedTool, isRemoteTool, type RemoteWork, toolNameOf } from './remote-tool.ts';
import { readAgentOfCall } from './store.ts';
import { workRemotely } from './work-remotely.ts';

export function createWorkerPart({ pool, egress, config, resolveOf, resolveSecret }: WorkerCore): WorkerPart {
  const artifacts = openArtifacts(pool, config, resolveSecret);
  return {
    addedTools: {
      isLikely: isRemoteTool,
      async find({ tenant, call }) {
        const agent = await readAgentOfCall(forTenant(pool, tenant), call);
        if (!agent) return undefined;
        if (agent.is_deleted)
          return { tool: createGoneTool(toolNameOf(agent.name), 'was deleted'), isGone: false };
        const run = (_deps: object, work: unknown, running: Parameters<typeof workRemotely>[0]['call']) =>
          workRemotely({
            db: forTenant(pool, tenant),
            artifacts,
            egress,
            resolveOf,
            agent,
            work: work as RemoteWork,
            call: running,
          });
        return { tool: { ...catalogedTool(agent), run }, isGone: false };
      },
    },
  };
}
