/**
 * Provides programs with credentials in a worker: what the tool needs, and the guard against other commands that use
 * them.
 */
import { join } from 'node:path';
import { CREDENTIALS_FOLDER } from '#activities/process/state-folders.ts';
import { removeLeftFolders } from '@tempoclaw/sandbox';
import { commandFolders } from '#config';
import type { WorkerPart } from '#domain/feature.ts';
import { endLogins } from '#temporal/end-logins.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { refuseSecureCli, secureCliReason } from './activities/refuse-secure-cli.ts';
import { createSecureClis } from './activities/secure-clis.ts';
import { endedLogins } from './user-credentials.ts';

export async function createWorkerPart(core: WorkerCore): Promise<WorkerPart> {
  const { pool, vault, machine, config, temporal } = core;
  const dir = join(config.stateDir, CREDENTIALS_FOLDER);
  await removeLeftFolders(dir);
  const secureClis = createSecureClis({
    vault,
    pool,
    shell: machine.host,
    dir,
    folders: commandFolders(),
    workspaceRoot: config.workspaceRoot,
  });
  return {
    tools: { secureClis },
    // An API process may have died after it kept them, or found no worker.
    async recover() {
      const ended = await endedLogins(pool);
      await endLogins({ pool, reach: temporal }, ended);
      return ended.length;
    },
    guard: {
      plannedCommand: (tenant, agent, command) => secureCliReason(secureClis.listNow(tenant), agent, command),
      command: (call, command) => refuseSecureCli(secureClis, call, command),
    },
  };
}
