/**
 * Provides programs with credentials in a worker: what the tool needs, and the guard against other commands that use
 * them.
 */
import { join } from 'node:path';
import { CREDENTIALS_FOLDER } from '#activities/process/state-folders.ts';
import { removeLeftFolders } from '@tempoclaw/sandbox';
import { commandFolders } from '#config';
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { refuseSecureCli, secureCliReason } from './activities/refuse-secure-cli.ts';
import { createSecureClis } from './activities/secure-clis.ts';

export async function createWorkerPart({ vault, machine, config }: WorkerCore): Promise<WorkerPart> {
  const dir = join(config.stateDir, CREDENTIALS_FOLDER);
  await removeLeftFolders(dir);
  const secureClis = createSecureClis({
    vault,
    shell: machine.host,
    dir,
    folders: commandFolders(),
    workspaceRoot: config.workspaceRoot,
  });
  return {
    tools: { secureClis },
    guard: {
      plannedCommand: (tenant, agent, command) => secureCliReason(secureClis.listNow(tenant), agent, command),
      command: (call, command) => refuseSecureCli(secureClis, call, command),
    },
  };
}
