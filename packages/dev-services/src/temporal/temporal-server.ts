/** A Temporal dev server with its database file under the state folder, tuned for one machine. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Child, Exit } from '../child.ts';
import { startChild, waitUntil } from '../child.ts';
import { guardUi, portRefusedByBrowsers, type RefuseUi, refuseOtherSites } from './guard-ui.ts';
import { isPortOpen, nextFreePort, withPortsTaken } from '../ports.ts';
import { askTemporal } from '../ask-services.ts';
import type { SearchAttributes } from './search-attributes.ts';

const READY_MS = 60_000;

export interface TemporalServerOptions {
  readonly binary: string;
  readonly stateDir: string;
  readonly namespace: string;
  /** The ports of an earlier start, which must be the same again. Without them, the two below are tried first. */
  readonly ports?: TemporalPorts | undefined;
  /** First ports tried; 0 for any. */
  readonly port: number;
  readonly uiPort: number;
  readonly env: Readonly<Record<string, string>>;
  /** Keeps nothing on disk; for tests. */
  readonly inMemory?: boolean;
  /** Starts the web UI (default true). */
  readonly ui?: boolean;
  /** Which requests its web UI refuses; by default those that do not name this machine, and changes by other pages. */
  readonly refuseUi?: RefuseUi;
  /** Where it serves its metrics in Prometheus' format, at /metrics of this machine; by default at any free port. */
  readonly metricsPort?: number;
  /** Search attributes that the namespace has from the beginning. */
  readonly searchAttributes?: SearchAttributes;
  /** Dynamic settings besides ours, each as `key=value` with a value in JSON, such as `limit.blobSize.error=4194304`. */
  readonly dynamicConfig?: readonly string[];
  /** Gets the process before it is ready, so that it can be ended in the meantime. */
  readonly onSpawn?: (child: Child) => void;
}

export interface TemporalPorts {
  readonly port: number;
  /** The port of the web UI itself, behind the guard; absent without a UI. */
  readonly uiPort?: number | undefined;
  readonly guardPort?: number | undefined;
}

export interface RunningTemporal {
  readonly ports: TemporalPorts;
  readonly address: string;
  readonly uiUrl?: string;
  readonly pid: number;
  readonly child: Child;
  readonly exited: Promise<Exit>;
  stop(): Promise<void>;
}

/**
 * Settings of the dev server, from measurements. The transfer queue's default poll rate paces every step at 50 ms. One
 * partition saves a hop on a single node. With fairness, tasks of different keys are taken in turn where they wait. WAL with synchronous=FULL halves a step and loses nothing. By default,
 * continuing as new within a second of a run's start is delayed to that second, which would hold up each waiting turn.
 */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=100000',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'matching.enableFairness=true',
  'system.enableActivityEagerExecution=true',
  'history.workflowIdReuseMinimalInterval=0',
  // Nothing uses its HTTP API, which would answer any site's page; no page can have a reserved name.
  'frontend.httpAllowedHosts=["nobody.invalid"]',
] as const;

/**
 * A closed run is deleted only once the queue's position is written, by default every half minute. It is more frequent
 * where no disk is written.
 */
const IN_MEMORY_CONFIG = ['history.transferProcessorUpdateAckInterval="1s"'] as const;

/** Starts the server and waits until its namespace answers. Throws, with the end of its log, when it does not. */
export function startTemporalServer(options: TemporalServerOptions): Promise<RunningTemporal> {
  const { ports } = options;
  // It returns at its previous ports or not at all.
  if (ports) return startOnce(options, ports);
  return withPortsTaken(async () => startOnce(options, await choosePorts(options)));
}

async function startOnce(options: TemporalServerOptions, ports: TemporalPorts): Promise<RunningTemporal> {
  const { port, uiPort, guardPort } = ports;
  const child = await startChild({
    name: 'Temporal',
    command: options.binary,
    args: serverArguments(options, port, uiPort),
    env: options.env,
    logFile: join(options.stateDir, 'logs', 'temporal.log'),
    privateFiles: true,
  });
  options.onSpawn?.(child);
  const address = `127.0.0.1:${port}`;
  try {
    await waitUntil(child, () => isServing(address, options.namespace), READY_MS);
    if (uiPort !== undefined && guardPort !== undefined) {
      const guard = await guardUi({ port: guardPort, uiPort, refuse: options.refuseUi ?? refuseOtherSites });
      // The UI exists for as long as its server.
      void child.exited.then(() => guard.close());
    }
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    address,
    ports,
    uiUrl: guardPort !== undefined ? `http://127.0.0.1:${guardPort}` : undefined,
    pid: child.pid,
    child,
    exited: child.exited,
    stop: () => child.stop(),
  };
}

async function choosePorts({
  port: required,
  uiPort: requestedUi,
  ui,
}: TemporalServerOptions): Promise<TemporalPorts> {
  const port = await nextFreePort(required);
  const uiPort = ui === false ? undefined : await portRefusedByBrowsers(new Set([port]));
  if (uiPort === undefined) return { port };
  return { port, uiPort, guardPort: await nextFreePort(requestedUi, '127.0.0.1', new Set([port, uiPort])) };
}

function serverArguments(options: TemporalServerOptions, port: number, uiPort: number | undefined): string[] {
  const arguments_ = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)];
  arguments_.push('--log-format', 'json', '--log-level', 'warn', '--namespace', options.namespace);
  if (options.metricsPort !== undefined) arguments_.push('--metrics-port', String(options.metricsPort));
  if (uiPort === undefined) arguments_.push('--headless');
  else arguments_.push('--ui-port', String(uiPort));
  if (options.inMemory !== true) {
    arguments_.push('--db-filename', databaseFile(options.stateDir));
    arguments_.push('--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=FULL');
  }
  const settings = [...DYNAMIC_CONFIG, ...(options.inMemory ? IN_MEMORY_CONFIG : [])];
  for (const value of [...settings, ...(options.dynamicConfig ?? [])])
    arguments_.push('--dynamic-config-value', value);
  for (const [name, type] of Object.entries(options.searchAttributes ?? {}))
    arguments_.push('--search-attribute', `${name}=${type}`);
  return arguments_;
}

/** The path is the real one, by which a later start finds the server. */
function databaseFile(stateDir: string): string {
  return join(realpathSync(stateDir), 'temporal.db');
}

/** Whether a command is the Temporal server of a state folder. */
export function isTemporalOf(stateDir: string): (command: string) => boolean {
  const words = ` --db-filename ${databaseFile(stateDir)} `;
  return (command) => `${command} `.includes(words);
}

async function isServing(address: string, namespace: string): Promise<true | undefined> {
  // gRPC waits a second after a refused connection, so it connects only once the port is open.
  if (!(await isPortOpen(address))) return undefined;
  // The namespace may not exist yet; the wait around this has the time limit and shows the log.
  return askTemporal({ address }, namespace, 2_000).then(
    () => true,
    () => undefined,
  );
}
