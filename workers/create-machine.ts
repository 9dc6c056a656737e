/** What stands on this machine, made for real: files, commands on the host and in boxes, programs with credentials. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Config, childEnvironment, commandFolders } from '#config';
import { type Boxes, createBoxes } from '#activities/sandbox/boxes.ts';
import { createBoxedShell } from '#activities/sandbox/boxed-shell.ts';
import { createBubblewrap } from '#activities/sandbox/bubblewrap.ts';
import { createEngine } from '#activities/sandbox/engine.ts';
import { createEngineLook } from '#activities/sandbox/look-at-engine.ts';
import type { WorldDeps } from '#activities/tool-call/tool-deps.ts';
import { createProcesses, processesFolder } from '#activities/process/background.ts';
import { createLauncher, socketsFolder } from '#activities/process/launcher.ts';
import { ownIdentity } from '#activities/process/process-table.ts';
import { createShell } from '#activities/process/shell.ts';
import { removeLeftFolders } from '#activities/process/worker-folders.ts';
import type { HostWall } from '#activities/process/wall.ts';
import { createSecureClis } from '#activities/secure-cli/secure-clis.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { commandEnvironment } from '#policy/command-environment.ts';
import type { Pool } from '#store/pool.ts';
import { createSessionQueries } from '#store/session-queries.ts';
import type { Vault } from '#store/secrets/vault.ts';

export interface Machine {
  readonly world: WorldDeps;
  readonly boxes: Boxes;
}

export async function createMachine(
  config: Config,
  pool: Pool,
  vault: Vault,
  wall: HostWall,
): Promise<Machine> {
  const environment = commandEnvironment(childEnvironment({}));
  const worker = ownIdentity();
  const sockets = socketsFolder(config.stateDir);
  const host = createShell({ environment, worker, launch: createLauncher(sockets), wall });
  const boxes = createWorkerBoxes(config);
  const credentials = join(config.stateDir, 'credentials');
  await removeLeftFolders(credentials);
  if (sockets.startsWith(config.stateDir)) await removeLeftFolders(sockets);
  const world = {
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
      endBoxes: boxes.endSession,
    }),
    secureClis: createSecureClis({
      vault,
      shell: host,
      dir: credentials,
      folders: commandFolders(),
      workspaceRoot: config.workspaceRoot,
    }),
  };
  return { world, boxes };
}

/** Workers with the same workspaces share their boxes. */
function createWorkerBoxes({ sandbox, workspaceRoot }: Config): Boxes {
  const engine = createEngine(sandbox.dockerHost);
  return createBoxes({
    engine,
    look: createEngineLook(engine, Date.now),
    installation: createHash('sha256').update(workspaceRoot).digest('hex').slice(0, 24),
    life: { idleSeconds: sandbox.idleMinutes * 60, maxAgeSeconds: sandbox.maxAgeHours * 3600 },
    now: Date.now,
  });
}
