/** Makes forks in a worker, and gives their turns the answers that came with the requests. */
import { join } from 'node:path';
import type { WorkerPart } from '#domain/feature.ts';
import { deniedPrefixes } from '#domain/files/path-rules.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createForkActivities } from './activities.ts';
import { createForkAnswer } from './fork-input.ts';
import { forkStart } from './start-fork.ts';
import { openForks } from './store/fork-store.ts';

/** Longer than a request needs to start its workflow. */
const LOST_SECONDS = 60;

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const { pool, sealer, reach, config } = core;
  const deps = {
    ...core,
    workspaces: core.machine.workspaces,
    journalDir: join(config.stateDir, 'changes'),
    deniedPaths: deniedPrefixes(config.tools.denied_paths),
  };
  return {
    activities: { ...createForkActivities(deps) },
    forkAnswer: createForkAnswer(pool, sealer),
    async recover() {
      const open = await openForks(pool, LOST_SECONDS);
      for (const { tenant_id, session_key } of open) await reach.start(forkStart(tenant_id, session_key));
      return open.length;
    },
  };
}
