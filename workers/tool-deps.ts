/** What tools need of the world, made for real on this host. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Config, childEnvironment, commandFolders } from '#config';
import type { WorldDeps } from '#activities/tool-call/tool-deps.ts';
import { createProcesses, processesFolder } from '#activities/process/background.ts';
import { commandEnvironment } from '#policy/command-environment.ts';
import { createLauncher, socketsFolder } from '#activities/process/launcher.ts';
import { ownIdentity } from '#activities/process/process-table.ts';
import { createShell } from '#activities/process/shell.ts';
import { removeLeftFolders } from '#activities/process/worker-folders.ts';
import type { HostWall } from '#activities/process/wall.ts';
import { createSecureClis } from '#activities/secure-cli/secure-clis.ts';
import type { Vault } from '#store/secrets/vault.ts';
import { createBoxedShell } from '#activities/sandbox/boxed-shell.ts';
import { createBubblewrap } from '#activities/sandbox/bubblewrap.ts';
import type { Pool } from '#store/pool.ts';
import { createSessionQueries } from '#store/session-queries.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { createWorkerBoxes, sessionBoxes } from './boxes.ts';

export async function createToolDeps(
  config: Config,
  pool: Pool,
  vault: Vault,
  wall: HostWall,
  boxes = createWorkerBoxes(config),
): Promise<WorldDeps> {
  const environment = commandEnvironment(childEnvironment({}));
  const worker = ownIdentity();
  const sockets = socketsFolder(config.stateDir);
  const host = createShell({ environment, worker, launch: createLauncher(sockets), wall });
  const credentials = join(config.stateDir, 'credentials');
  await removeLeftFolders(credentials);
  if (sockets.startsWith(config.stateDir)) await removeLeftFolders(sockets);
  return {
    sessions: createSessionQueries(pool, config.sessions.shared),
    now: Date.now,
    files: createFiles({ journalDir: join(config.stateDir, 'changes'), now: Date.now }),
    shell: createBoxedShell({
      host,
      boxes,
      bubblewrap: createBubblewrap(commandFolders()),
      worker: `${hostname()}/${worker}`,
    }),
    processes: createProcesses({
      dir: processesFolder(config.stateDir),
      environment,
      now: Date.now,
      endBoxes: sessionBoxes(boxes),
    }),
    secureClis: createSecureClis({
      vault,
      shell: host,
      dir: credentials,
      folders: commandFolders(),
      workspaceRoot: config.workspaceRoot,
    }),
  };
}
