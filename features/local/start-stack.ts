/**
 * Starts the whole of TempoClaw on this machine, in order: Postgres and Temporal (or those that the settings name),
 * migrations and search attributes, then worker and API. It ends them in the reverse order.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SOURCE_ENDING } from '#domain/source-ending.ts';
import type { Config } from '#config';
import { childEnvironment, commandFolders, onDemandPackages, userCacheDir, withoutPassword } from '#config';
import { API_SOCKET } from '#config/supervisor.ts';
import { endBackgroundCommands, socketsFolder, makeWorkerFolder } from '@tempoclaw/sandbox';
import { OWN_NAME } from '#activities/process/own-names.ts';
import { processesFolder } from '#activities/process/state-folders.ts';
import { hostNames } from '#domain/net/judge-origin.ts';
import {
  type Child,
  createParts,
  listeningPorts,
  localHost,
  nextFreePort,
  portOf,
  type Parts as Processes,
  portWords,
  settledPorts,
} from '@tempoclaw/dev-services/processes';
import { buildConsole } from '#features/console/index.ts';
import { END_ORDER } from './leftovers.ts';
import { startProgram } from './start-program.ts';
import { namespaceOf } from './temporal/own-namespace.ts';
import {
  askTemporal,
  obtainTemporalBinary,
  postgresPackageName,
  startPostgres,
  startTemporalServer,
  type TemporalPorts,
} from '@tempoclaw/dev-services';
import { packageFolder } from '@tempoclaw/on-demand';
import { type ProgressOptions, runSteps, type Step } from '@tempoclaw/dev-services/steps';
import { infoBefore, type PublishedInfo, type RunState } from '#cli/run-state.ts';
import { OWN_POSTGRES, OWN_TEMPORAL, refuseUi } from './own-servers.ts';
import type { SchemaPart } from '#store/postgres/migrate.ts';
import { keepSchemaMark } from './postgres/kept-schema.ts';
import { connectionTo, noTemporal } from './reach.ts';
import { migrationStep, namespaceStep, searchAttributeStep } from './postgres/schema-steps.ts';

export interface StackOptions {
  readonly config: Config;
  readonly features: readonly SchemaPart[];
  readonly state: RunState;
  /** Starts only Postgres and Temporal with their schema, for tests and benchmarks. */
  readonly onlyServices: boolean;
  readonly progress: ProgressOptions;
  /** Called when a part ends by itself and when it returns. */
  readonly onEvent: (text: string) => void;
}

/** What is known once everything runs. */
export type StackInfo = { -readonly [Part in keyof PublishedInfo]: PublishedInfo[Part] };

export interface Stack {
  readonly info: StackInfo;
  /** Ends every part that was started, users before services. Safe at any time, also while starting. */
  stop(): Promise<void>;
  /** Ends everything at once, without grace. */
  kill(): void;
}

type Name = (typeof END_ORDER)[number];

/** Longest wait for a server of the settings. */
const ANSWER_MS = 10_000;

/** Prepares a stack; `start` runs the steps and throws when one fails (call `stop` then). */
export function createStack(options: StackOptions): Stack & { start(): Promise<void> } {
  const { config, state } = options;
  const processes = createParts<Name>({
    order: END_ORDER,
    onEvent: options.onEvent,
    onSpawn: (name, child) => state.remember(name, child.pid),
    async onEnd(name) {
      state.forget(name);
      // A worker ends its own commands; these are of workers that were killed while we ran.
      if (name === 'worker' && !options.onlyServices)
        await endBackgroundCommands(processesFolder(config.stateDir), OWN_NAME);
    },
  });
  const info: StackInfo = infoBefore(config, namespaceOf(config));
  let apiPort: Promise<number> | undefined;
  let serving = Promise.withResolvers<readonly number[]>();
  const parts: Parts = {
    options,
    info,
    processes,
    apiPort: () => (apiPort ??= nextFreePort(config.api.port, config.api.host)),
    temporal: {
      async endCommands() {
        const before = serving;
        serving = Promise.withResolvers();
        before.resolve([]);
        // The worker's commands on this machine end with it.
        const worker = processes.child('worker');
        worker?.kill();
        await worker?.exited;
        await endBackgroundCommands(processesFolder(config.stateDir), OWN_NAME);
      },
      serves: (pid) => serving.resolve(settledPorts(pid)),
      async ports() {
        for (;;) {
          const current = serving;
          const ports = await current.promise;
          // Otherwise the ports belong to a server that has ended in the meantime.
          if (current === serving) return ports;
        }
      },
    },
    postgresPorts: () => listeningPorts(processes.child('postgres')?.pid ?? 0),
  };
  /** Replaces a step's error when we end the step, because that is no failure to investigate. */
  const notice = (step: Step): Step => ({
    ...step,
    run: (detail) =>
      step.run(detail).catch((error: unknown) => {
        throw processes.isStopping() ? new Error('ended') : error;
      }),
  });
  return {
    info,
    stop() {
      serving.resolve([]);
      return processes.stop();
    },
    kill: processes.kill,
    async start() {
      mkdirSync(config.workspaceRoot, { recursive: true, mode: 0o711 });
      const programs = options.onlyServices ? [] : [[workerStep(parts), apiStep(parts)]];
      const groups = [
        [postgresStep(parts), temporalStep(parts), ...(options.onlyServices ? [] : [consoleStep])],
        [migrationStep(config, info, options.features), searchAttributeStep(config, info)],
        [namespaceStep(config, info)],
        ...programs,
      ];
      await runSteps(
        groups.map((group) => group.map(notice)),
        options.progress,
      );
    },
  };
}

interface Parts {
  readonly options: StackOptions;
  readonly info: StackInfo;
  readonly processes: Processes<Name>;
  /** Where the API listens. The worker, which starts beside it, keeps commands from that port. */
  readonly apiPort: () => Promise<number>;
  readonly temporal: {
    endCommands(): Promise<void>;
    serves(pid: number): void;
    /** TCP ports that it listens on, once it serves; a worker then starts. */
    ports(): Promise<readonly number[]>;
  };
  readonly postgresPorts: () => readonly number[];
}

/** The API serves the console when its files are there, so nothing waits for it but the end of the start. */
const consoleStep: Step = { key: 'console', title: 'Console', run: () => buildConsole() };

function postgresStep({ options: { config, features }, info, processes }: Parts): Step {
  return {
    key: 'postgres',
    title: 'Postgres',
    async run(detail) {
      if (config.database.url !== undefined) {
        info.database_url = config.database.url;
        return `using ${withoutPassword(config.database.url)}`;
      }
      let port = config.database.port;
      let dataDir = '';
      const packageDir = await packageFolder(postgresPackageName(), import.meta.url, {
        ...onDemandPackages('postgres'),
        onProgress: detail,
      });
      await processes.keep('postgres', 'Postgres', async () => {
        const running = await startPostgres({
          ...OWN_POSTGRES,
          packageDir,
          stateDir: config.stateDir,
          cacheDir: userCacheDir(),
          env: childEnvironment({}),
          port,
          onProgress: detail,
          onCreate: () => keepSchemaMark(config.stateDir, features),
          onSpawn: processes.spawned('postgres'),
        });
        // After a crash, the others still have the first address, so only that one works.
        if (info.database_url !== '' && running.url !== info.database_url) return refuse(running.child, port);
        port = running.port;
        dataDir = running.dataDir;
        info.database_url = running.url;
        return running.child;
      });
      const elsewhere = dataDir.startsWith(config.stateDir) ? '' : `, data in ${dataDir}`;
      return `${portWords(port, config.database.port)}${elsewhere}`;
    },
  };
}

function temporalStep({ options: { config }, info, processes, temporal }: Parts): Step {
  return {
    key: 'temporal',
    title: 'Temporal',
    async run(detail) {
      const { address, uiUrl } = config.temporal;
      const { namespace } = info;
      if (address !== undefined) {
        await askTemporal(connectionTo(config, address), namespace, ANSWER_MS).catch((error: unknown) => {
          throw new Error(noTemporal(address, namespace, error), { cause: error });
        });
        info.temporal = address;
        info.temporal_ui = uiUrl ?? null;
        return `using ${address}, namespace ${namespace}`;
      }
      const env = childEnvironment({});
      const binary = await obtainTemporalBinary({
        cacheDir: userCacheDir(),
        folders: commandFolders(),
        env,
        addressSetting: 'TEMPORAL_ADDRESS',
        onProgress: detail,
      });
      let ports: TemporalPorts | undefined;
      await processes.keep('temporal', 'Temporal', async () => {
        // Its inner services now listen elsewhere. No command may run while the wall does not know the new ports.
        if (ports !== undefined) await temporal.endCommands();
        const running = await startTemporalServer({
          ...OWN_TEMPORAL,
          binary: binary.path,
          stateDir: config.stateDir,
          namespace,
          ports,
          port: config.temporal.port,
          uiPort: config.temporal.uiPort,
          refuseUi: refuseUi(hostNames(uiUrl, ...config.api.allowedHosts)),
          env,
          onSpawn: processes.spawned('temporal'),
        });
        info.temporal = running.address;
        info.temporal_ui = uiUrl ?? running.uiUrl ?? null;
        ports = running.ports;
        temporal.serves(running.pid);
        return running.child;
      });
      return `${portWords(portOf(info.temporal), config.temporal.port)}, CLI ${binary.version} from ${binary.source}`;
    },
  };
}

async function refuse(child: Child, port: number): Promise<never> {
  await child.stop();
  throw new Error(`its port ${port} has been taken by another program`);
}

function workerStep(parts: Parts): Step {
  const { config } = parts.options;
  return {
    key: 'worker',
    title: 'Worker',
    async run(detail) {
      await parts.processes.keep('worker', 'The worker', async () => {
        const { child, ready } = await startProgram(parts, {
          name: 'worker',
          title: 'The worker',
          main: `workers/main${SOURCE_ENDING}`,
          env: { TEMPOCLAW_CLOSED_PORTS: (await closedPorts(parts)).join(',') },
          // The worker waits this long for its activities, and a little longer to close its connections.
          stopGraceMs: config.worker.shutdownGraceSeconds * 1_000 + 5_000,
          onProgress: detail,
        });
        parts.info.runs = ready.runs;
        return child;
      });
      return `ready on task queue ${config.temporal.taskQueue}`;
    },
  };
}

function apiStep(parts: Parts): Step {
  const { config } = parts.options;
  return {
    key: 'api',
    title: 'API',
    async run(detail) {
      const port = await parts.apiPort();
      const folder = makeWorkerFolder(socketsFolder(config.stateDir));
      const socket = join(folder, 's');
      await parts.processes.keep('api', 'The API', async () => {
        const { child } = await startProgram(parts, {
          name: 'api',
          title: 'The API',
          main: `api/main${SOURCE_ENDING}`,
          env: { TEMPOCLAW_PORT: String(port), [API_SOCKET]: socket },
          // The API lets open requests run for 10 s.
          stopGraceMs: 15_000,
          onProgress: detail,
        });
        parts.info.api = `http://${localHost(config.api.host)}:${port}`;
        parts.info.api_socket = socket;
        return child;
      });
      return portWords(port, config.api.port);
    },
  };
}

/** Includes the ports of Temporal's own services, which require no key. */
async function closedPorts(parts: Parts): Promise<readonly number[]> {
  const { temporal, worker } = parts.options.config;
  return [
    await parts.apiPort(),
    ...(temporal.address === undefined ? await parts.temporal.ports() : []),
    ...parts.postgresPorts(),
    ...worker.closedPorts,
  ];
}
