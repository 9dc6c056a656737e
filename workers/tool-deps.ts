/** What tools need of the world, made for real on this host. */
import { join } from 'node:path';
import { type Config, childEnvironment } from '#config';
import type { Deps } from '#activities/deps.ts';
import { createProcesses, processesFolder } from '#activities/process/background.ts';
import { commandEnvironment } from '#activities/process/command-environment.ts';
import { ownIdentity } from '#activities/process/process-table.ts';
import { createShell } from '#activities/process/shell.ts';
import type { Pool } from '#activities/store/pool.ts';
import { createSessionQueries } from '#activities/store/session-queries.ts';
import { createFiles } from '#activities/workspace/files.ts';

export async function createToolDeps(config: Config, pool: Pool): Promise<Omit<Deps, 'subagents'>> {
  const environment = commandEnvironment(childEnvironment({}));
  const worker = ownIdentity();
  return {
    sessions: createSessionQueries(pool),
    now: Date.now,
    files: createFiles({ journalDir: join(config.stateDir, 'changes'), now: Date.now }),
    shell: createShell({ environment, worker }),
    processes: createProcesses({ dir: processesFolder(config.stateDir), environment, now: Date.now }),
  };
}
