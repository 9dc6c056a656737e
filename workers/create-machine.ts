/** What stands on this machine, made for real: files, commands on the host and in boxes, programs with credentials. */
import { createHash } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, childEnvironment, commandFolders } from '#config';
import { createBrowsers } from '#features/browser/activities/browsers.ts';
import { profilesFolder } from '#features/browser/activities/chromium.ts';
import { createMcpServers } from '#features/mcp/activities/mcp-servers.ts';
import { CREDENTIALS_FOLDER, MEDIA_FOLDER } from '#activities/process/state-folders.ts';
import { createEgress } from '#activities/egress/egress.ts';
import { type Boxes, createBoxes } from '#activities/sandbox/boxes.ts';
import { createBoxedShell } from '#activities/sandbox/boxed-shell.ts';
import { createBubblewrap } from '#activities/sandbox/bubblewrap.ts';
import { createEngine } from '#activities/sandbox/engine.ts';
import { createEngineLook } from '#activities/sandbox/look-at-engine.ts';
import type { WorldDeps } from '#activities/tool-call/tool-deps.ts';
import { createProcesses, processesFolder } from '#activities/process/background.ts';
import { createLauncher, socketsFolder } from '#activities/process/launcher.ts';
import { ownIdentity } from '#activities/process/process-table.ts';
import { THIS_MACHINE } from '#activities/process/reap-orphans.ts';
import { createShell } from '#activities/process/shell.ts';
import { removeLeftFolders } from '#activities/process/worker-folders.ts';
import type { HostWall } from '#activities/process/wall.ts';
import { createNodes } from '#features/nodes/activities/nodes.ts';
import { createSecureClis } from '#features/secure-cli/activities/secure-clis.ts';
import { makeRoot } from '#activities/workspace/workspace-folder.ts';
import { resolveHost } from '#policy/explain/resolve-host.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { commandEnvironment } from '#policy/command-environment.ts';
import { createBrowserPlaces } from '#features/browser/store/browser-place.ts';
import { lastBrowserPage } from '#features/browser/store/last-page.ts';
import { insertEgressRow } from '#store/egress-store.ts';
import type { Pool } from '#store/pool.ts';
import { bytesOf } from '#domain/sandbox.ts';
import { createSessionQueries } from '#store/session-queries.ts';
import { createRunningBefore } from '#store/tool-call-store.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import type { Secrets } from '#store/secrets/open-secrets.ts';
import { createWorkspaces, type Workspaces } from '#features/snapshots/create-workspaces.ts';

export interface Machine {
  readonly world: WorldDeps;
  readonly boxes: Boxes;
  /** The task queue that only this worker polls; undefined without the fast path. */
  readonly queue: string | undefined;
  readonly workspaces: Workspaces;
}

export async function createMachine(
  config: Config,
  pool: Pool,
  {
    vault,
    sealer,
    changes,
    nodeQueues,
  }: Pick<Secrets, 'vault' | 'sealer' | 'changes'> & Pick<TemporalAccess, 'nodeQueues'>,
  wall: HostWall,
  /** Told of what goes wrong in the background. */
  onError: (error: unknown) => void = () => undefined,
): Promise<Machine> {
  const environment = commandEnvironment(childEnvironment({}));
  const worker = ownIdentity();
  const queue = config.worker.fastPath ? `${config.temporal.taskQueue}/${randomUUID()}` : undefined;
  const sockets = socketsFolder(config.stateDir);
  const host = createShell({ environment, worker, launch: createLauncher(sockets), wall });
  const boxes = createWorkerBoxes(config);
  const bubblewrap = createBubblewrap(commandFolders());
  const credentials = join(config.stateDir, CREDENTIALS_FOLDER);
  const egress = createEgress({
    resolve: resolveHost,
    record: (row) => insertEgressRow(pool, row).catch(onError),
  });
  await makeRoot(config.workspaceRoot);
  const browserDir = join(config.stateDir, 'browser');
  const media = join(config.stateDir, MEDIA_FOLDER);
  for (const folder of new Set([credentials, media, profilesFolder(browserDir), sockets, tmpdir()]))
    await removeLeftFolders(folder);
  const workspaces = createWorkspaces(config, pool, vault.resolveSetting, onError);
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
    }),
    processes: createProcesses({
      dir: processesFolder(config.stateDir),
      environment,
      now: Date.now,
      endBoxes: boxes.endSession,
    }),
    egress,
    browsers: createBrowsers({
      ...config.browser,
      boxing: { boxes, bubblewrap },
      idleMs: config.browser.idleMinutes * 60_000,
      folders: commandFolders(),
      dir: browserDir,
      environment,
      worker,
      egress,
      shared: queue === undefined ? undefined : { places: createBrowserPlaces(pool), queue },
      lastPage: (tenant, session) => lastBrowserPage(pool, tenant, session),
    }),
    mcp: createMcpServers({
      pool,
      changes,
      onError,
      egress,
      rulesOf: (tenant) => tenantEgress(pool, config.egress, tenant),
      sealer,
      resolve: vault.resolve,
      wall,
      boxing: { boxes, bubblewrap, sandbox: config.sandbox },
      folders: join(config.stateDir, 'mcp-servers'),
      environment,
      worker,
    }),
    nodes: createNodes({ pool, sealer, changes, nodeQueues }),
    secureClis: createSecureClis({
      vault,
      shell: host,
      dir: credentials,
      folders: commandFolders(),
      workspaceRoot: config.workspaceRoot,
    }),
  };
  return { world, boxes, workspaces, queue };
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
