/** The parts of a worker that depend on its machine: files, commands on the host and in sandboxes, egress. */
import { createHash } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, childEnvironment, commandFolders } from '#config';
import { createEgress } from '#activities/egress/create-egress.ts';
import {
  type Boxes,
  createBoxes,
  createBoxedShell,
  type Bubblewrap,
  createBubblewrap,
  createEngine,
  createEngineProber,
  createBackgroundCommands,
  createLauncher,
  socketsFolder,
  ownIdentity,
  THIS_MACHINE,
  createShell,
  type Shell,
  removeLeftFolders,
  type HostWall,
} from '@tempoclaw/sandbox';
import type { WorldDeps } from '#activities/tool-call/tool-deps.ts';
import { boxGroup } from '#activities/process/box-owner.ts';
import { BOX_BOUNDS, MAKE_IMAGE, OWN_NAME } from '#activities/process/own-names.ts';
import { sessionProcesses } from '#activities/process/session-processes.ts';
import { processesFolder } from '#activities/process/state-folders.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { withDocuments } from '#activities/workspace/documents/with-documents.ts';
import { makeRoot } from '#activities/workspace/workspace-folder.ts';
import { foldersOnly, type Workspaces } from '#activities/workspace/workspaces.ts';
import type { Feature } from '#domain/feature.ts';
import { deniedPrefixes } from '#domain/files/path-rules.ts';
import { bytesOf } from '#domain/sandbox.ts';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import { insertEgressRow } from '#store/egress-store.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { createSessionQueries } from '#store/turns/session-queries.ts';
import { createRunningBefore } from '#store/turns/tool-call-store.ts';
import type { Vault } from '#store/secrets/vault.ts';

export interface Machine {
  readonly world: WorldDeps;
  /** Runs commands on this machine, outside of sandboxes. */
  readonly host: Shell;
  readonly boxes: Boxes;
  readonly bubblewrap: Bubblewrap;
  /** Confines commands on this machine. */
  readonly wall: HostWall;
  /** Environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Identifies this worker's process. */
  readonly worker: string;
  /** The task queue that only this worker polls; undefined without the fast path. */
  readonly queue: string | undefined;
  readonly workspaces: Workspaces;
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void;
}

export async function createMachine(
  config: Config,
  pool: Pool,
  vault: Pick<Vault, 'resolveSetting'>,
  wall: HostWall,
  features: readonly Pick<Feature, 'workspaces'>[],
  onError: Machine['onError'] = () => undefined,
): Promise<Machine> {
  const environment = commandEnvironment(childEnvironment({}));
  const worker = ownIdentity();
  const sockets = socketsFolder(config.stateDir);
  const host = createShell({ name: OWN_NAME, environment, worker, launch: createLauncher(sockets), wall });
  const boxes = createWorkerBoxes(config);
  const bubblewrap = createBubblewrap(commandFolders());
  await makeRoot(config.workspaceRoot);
  for (const folder of [sockets, tmpdir()]) await removeLeftFolders(folder);
  const workspaces = await createWorkspaces(config, pool, vault.resolveSetting, features, onError);
  const world = {
    sessions: createSessionQueries(pool, config.sessions.shared),
    runningBefore: createRunningBefore(pool),
    now: Date.now,
    files: workspaces.files,
    shell: createBoxedShell({
      host,
      boxes,
      bubblewrap,
      worker: `${THIS_MACHINE}${worker}`,
      diskBytes: bytesOf(config.worker.commands.disk),
      boundNames: BOX_BOUNDS,
    }),
    processes: sessionProcesses(
      createBackgroundCommands({
        name: OWN_NAME,
        dir: processesFolder(config.stateDir),
        environment,
        now: Date.now,
        endBoxes: ({ owner, group }) => boxes.endGroup(boxGroup(owner, group)),
      }),
    ),
    egress: createEgress({
      resolve: resolveHost,
      record: (row) => insertEgressRow(pool, row).catch(onError),
    }),
  };
  const queue = config.worker.fastPath ? `${config.temporal.taskQueue}/${randomUUID()}` : undefined;
  return { world, host, boxes, bubblewrap, wall, environment, worker, queue, workspaces, onError };
}

/** Folders on this machine, unless a feature provides workspaces that follow the work. */
async function createWorkspaces(
  config: Config,
  pool: Pool,
  resolveSetting: Vault['resolveSetting'],
  features: readonly Pick<Feature, 'workspaces'>[],
  onError: Machine['onError'],
): Promise<Workspaces> {
  const files = withDocuments(
    createFiles({
      rules: { deniedPrefixes: deniedPrefixes(config.tools.denied_paths) },
      journalDir: join(config.stateDir, 'changes'),
      now: Date.now,
      lock: createFileLock(pool),
    }),
    pool,
  );
  const folders = foldersOnly(files, config.workspaceRoot, pool);
  for (const { workspaces } of features) {
    const module = await workspaces?.();
    const found = module?.createWorkspaces(folders, { config, pool, resolveSetting, onError });
    if (found) return found;
  }
  return folders;
}

/** Workers with the same workspaces share their sandboxes. */
function createWorkerBoxes({ sandbox, workspaceRoot }: Config): Boxes {
  const engine = createEngine(sandbox.dockerHost);
  return createBoxes({
    name: OWN_NAME,
    engine,
    prober: createEngineProber(engine, Date.now, MAKE_IMAGE),
    installation: createHash('sha256').update(workspaceRoot).digest('hex').slice(0, 24),
    life: { idleSeconds: sandbox.idleMinutes * 60, maxAgeSeconds: sandbox.maxAgeHours * 3600 },
    now: Date.now,
  });
}
