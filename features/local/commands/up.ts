/** Implements `tempoclaw up`: it starts everything on this machine, prints where it is, and ends it all on Ctrl-C. */
import type { Command } from 'commander';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#config';
import { ConfigError, loadConfig, preflight } from '#config';
import { CliError, EXIT, type ExitCode } from '#cli/cli-error.ts';
import type { CommandModule } from '#cli/commands.ts';
import type { SchemaPart } from '#store/postgres/migrate.ts';
import { createContext, wholeNumber } from '#cli/command-context.ts';
import { createOutput, type Output, printFields } from '#cli/output.ts';
import { consoleAddress } from '#cli/console-address.ts';
import { endFormerStart } from '../leftovers.ts';
import { readRunInfo, runningUp, takeStateFolder, UNKEPT } from '#cli/run-state.ts';
import { prepareState, type UpgradeOptions } from '../prepare-state.ts';
import { createStack, type StackInfo } from '../start-stack.ts';
import type { ProgressOptions } from '@tempoclaw/dev-services/steps';
import { runsAtWords } from '#domain/sandbox.ts';

export interface UpOptions {
  readonly port?: number;
  readonly host?: string;
  readonly stateDir?: string;
  readonly config?: string;
  readonly temporalAddress?: string;
  readonly databaseUrl?: string;
  readonly taskQueue?: string;
  readonly logLevel?: string;
  readonly json?: boolean;
  readonly onlyServices?: boolean;
  readonly setupOnly?: boolean;
  readonly backup?: boolean;
  readonly restoreBackup?: boolean;
}

export function commandsFor(features: readonly SchemaPart[]): CommandModule {
  return {
    register: (command) =>
      addOptions(command).action(async (options: UpOptions) => {
        process.exitCode = await up(options, features);
      }),
  };
}

function addOptions(command: Command): Command {
  return command
    .option('--port <port>', 'port of the API (default: 7400, or the next free one)', wholeNumber(0, 65_535))
    .option('--host <host>', 'address the API listens on (default: 127.0.0.1)')
    .option(
      '--temporal-address <host:port>',
      'use this Temporal instead of starting one (or TEMPORAL_ADDRESS)',
    )
    .option('--database-url <url>', 'use this Postgres instead of starting one (or DATABASE_URL)')
    .option('--task-queue <name>', 'Temporal task queue (default: tempoclaw)')
    .option('--log-level <level>', 'trace, debug, info, warn or error')
    .option('--only-services', 'start just Postgres and Temporal')
    .option('--setup-only', 'make the database schema and the search attributes, then end')
    .option('--no-backup', 'upgrade an older database of the state folder without a backup')
    .option('--restore-backup', 'go back to before the last upgrade of the state folder, then end')
    .option('--json', 'print progress and the result as JSON lines');
}

/** Runs until a signal comes; resolves with the exit code when every part has ended. */
async function up(options: UpOptions, features: readonly SchemaPart[]): Promise<ExitCode> {
  const {
    json = false,
    setupOnly = false,
    onlyServices = setupOnly,
    backup,
    restoreBackup,
    ...flags
  } = options;
  const config = loadConfig({ flags });
  const problems = preflight(config);
  if (problems.length > 0) throw new ConfigError(problems);
  keepOnWithoutReader();
  const out = createOutput(process.stdout);

  const servers = setupOnly ? serversThere(config) : undefined;
  return servers
    ? setUp(servers, features, { json, write: out.line })
    : run(config, { json, setupOnly, onlyServices, features, backup, restoreBackup }, out);
}

interface RunOptions extends UpgradeOptions {
  readonly json: boolean;
  readonly setupOnly: boolean;
  readonly onlyServices: boolean;
  readonly features: readonly SchemaPart[];
}

async function run(
  config: Config,
  { json, setupOnly, onlyServices, features, ...upgrade }: RunOptions,
  out: Output,
): Promise<ExitCode> {
  const say = (text: string): void =>
    out.line(json ? JSON.stringify({ type: 'event', text }) : `${out.paint('yellow', '•')} ${text}`);
  const state = await takeStateFolder(config.stateDir);
  if (state === undefined) throw alreadyRunning(config.stateDir);
  const signal = awaitSignal();
  const leftovers = await endFormerStart(config.stateDir);
  if (leftovers.length > 0) say(`ended what a former start left running: ${leftovers.join(', ')}`);
  const isReady = await prepareState(config, features, upgrade, say).catch((error: unknown) => {
    state.release();
    throw error;
  });
  if (!isReady) {
    state.release();
    return EXIT.ok;
  }
  let announced = false;
  const stack = createStack({
    config,
    features,
    state,
    onlyServices,
    progress: { json, write: out.line },
    onEvent: (text) => {
      say(text);
      // A restarted part may have another address.
      if (announced) state.publish(stack.info);
    },
  });
  const end = async (): Promise<void> => {
    await stack.stop();
    state.release();
  };

  const began = performance.now();
  const started = stack.start();
  const interrupted = await Promise.race([
    started.then(
      () => undefined,
      async (error: unknown) => {
        if (signal.received()) return;
        await end();
        throw withLogs(error, config.stateDir);
      },
    ),
    signal.first,
  ]);
  if (interrupted !== undefined || signal.received()) {
    signal.onSecond(() => stack.kill());
    await end();
    // Steps of the start may still wait for what has just been ended. While their list is shown, it holds our output
    // back.
    await Promise.race([started.catch(() => undefined), sleep(LAST_STEP_MS)]);
    if (!json) out.line('Ended before it was up.');
    process.exit(EXIT.interrupted);
  }

  if (setupOnly) {
    await end();
    return EXIT.ok;
  }
  const { info } = stack;
  state.publish(info);
  announced = true;
  const seconds = (performance.now() - began) / 1_000;
  const console = json || onlyServices ? undefined : await consoleLink(config);
  announce(out, { json, config, info, onlyServices, seconds, console });

  const name = await signal.first;
  if (!json) out.line(`\nEnding (${name}); once more to end at once.`);
  signal.onSecond(() => stack.kill());
  await end();
  if (!json) out.line(`Ended. Everything is kept in ${shortPath(config.stateDir)}.`);
  return EXIT.ok;
}

/** The settings with servers that already run: those that they name, or the Temporal of an `up` in the folder. */
function serversThere(config: Config): Config | undefined {
  if (config.database.url === undefined) return undefined;
  if (config.temporal.address !== undefined) return config;
  const { temporal: address, namespace } =
    (runningUp(config.stateDir) === undefined ? undefined : readRunInfo(config.stateDir)) ?? {};
  if (!address || namespace === undefined) return undefined;
  return { ...config, temporal: { ...config.temporal, address, namespace } };
}

/** Starts nothing, so the state folder may belong to another user. */
async function setUp(
  config: Config,
  features: readonly SchemaPart[],
  progress: ProgressOptions,
): Promise<ExitCode> {
  const stack = createStack({
    config,
    features,
    state: UNKEPT,
    onlyServices: true,
    progress,
    onEvent: () => undefined,
  });
  await stack.start().catch((error: unknown) => {
    throw withLogs(error, config.stateDir);
  });
  return EXIT.ok;
}

function announce(
  out: Output,
  run: {
    json: boolean;
    config: Config;
    info: StackInfo;
    onlyServices: boolean;
    seconds: number;
    console: string | undefined;
  },
): void {
  const { config, info } = run;
  if (run.json) {
    const runFile = `${config.stateDir}/run.json`;
    out.line(
      JSON.stringify({
        type: 'ready',
        api: info.api,
        temporal: info.temporal,
        temporal_ui: info.temporal_ui,
        run_file: runFile,
        commands: info.runs ?? null,
      }),
    );
    return;
  }
  const providers = Object.keys(config.models.providers);
  out.line(`\n${out.paint('green', '✔')} TempoClaw is up (${run.seconds.toFixed(1)} s).\n`);
  printFields(out, {
    API: info.api ?? undefined,
    'API docs': info.api === null ? undefined : `${info.api}/docs`,
    'API key': info.api === null ? undefined : `in ${shortPath(info.api_key_file)}`,
    'Temporal UI': info.temporal_ui ?? undefined,
    Temporal: `${info.temporal}, namespace ${info.namespace}`,
    Models: providers.length > 0 ? providers.join(', ') : 'rehearsal (scripted; needs no key)',
    Commands: info.runs && `run ${runsAtWords(info.runs)}${info.runs === 'host' ? ' (docs/sandbox.md)' : ''}`,
    Logs: `${shortPath(config.stateDir)}/logs`,
  });
  if (providers.length === 0) out.line('\nFor real models set OPENAI_API_KEY or another key.');
  if (run.console !== undefined) out.line(`\nConsole, once within ten minutes:\n  ${run.console}`);
  if (!run.onlyServices) out.line(`\nTry:  ${out.paint('bold', 'npx tempoclaw chat')}`);
  out.line(out.paint('dim', 'Ctrl-C ends everything.'));
}

/** A link that logs the person's browser in; undefined when there is no console, or its key is elsewhere. */
function consoleLink({ stateDir }: Config): Promise<string | undefined> {
  return consoleAddress(createContext({ stateDir }).client).catch(() => undefined);
}

function alreadyRunning(stateDir: string): CliError {
  const info = readRunInfo(stateDir);
  const where = [
    ['API', info?.api],
    ['Temporal', info?.temporal],
    ['Temporal UI', info?.temporal_ui],
  ].flatMap(([name, address]) => (address ? [`${name} ${address}`] : []));
  const pid = runningUp(stateDir);
  return new CliError(
    `TempoClaw already runs in ${shortPath(stateDir)}${pid === undefined ? '' : ` (pid ${pid})`}${where.length === 0 ? ', and is still starting' : `: ${where.join(', ')}`}.`,
    {
      code: 'AlreadyRunning',
      remedy: 'Use that one, end it with Ctrl-C, or give this one another --state-dir.',
    },
  );
}

function withLogs(error: unknown, stateDir: string): CliError {
  const words = error instanceof Error ? error.message : String(error);
  return new CliError(words, {
    code: 'StartFailed',
    remedy: `The logs are in ${shortPath(stateDir)}/logs; \`tempoclaw doctor\` looks for what is missing.`,
  });
}

/**
 * Handles a closed terminal, a pipe without a reader, and a full disk: output is lost, but no part is left without its
 * `up`.
 */
function keepOnWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => undefined);
  }
}

const LAST_STEP_MS = 2_000;
/** Copies of one signal arrive within this time; a person's second Ctrl-C takes longer. */
const SAME_SIGNAL_MS = 400;

interface SignalWatch {
  readonly first: Promise<NodeJS.Signals>;
  received(): boolean;
  onSecond(act: () => void): void;
}

function awaitSignal(): SignalWatch {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let count = 0;
  let last = 0;
  let second: (() => void) | undefined;
  const take = (name: NodeJS.Signals): void => {
    // npm and process groups deliver one request to end several times.
    const now = performance.now();
    if (count > 0 && now - last < SAME_SIGNAL_MS) return;
    last = now;
    count += 1;
    if (count === 1) resolve(name);
    else second?.();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => take(name));
  // The command that has started it, such as `dev`, was killed.
  process.once('disconnect', () => count === 0 && take('SIGHUP'));
  // Listening for it would keep this process alive.
  process.channel?.unref();
  return {
    first: promise,
    received: () => count > 0,
    onSecond: (act) => {
      second = act;
    },
  };
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith('..') ? path : short;
}
