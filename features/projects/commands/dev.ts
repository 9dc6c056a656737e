/**
 * Implements `tempoclaw dev`: it starts an installation for the folder unless one runs, deploys the folder, serves its
 * tools, and does so again at each change.
 */
import { join, relative, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FSWatcher, watch } from 'chokidar';
import type { Command } from 'commander';
import type { Client } from '#cli/client.ts';
import type { Output } from '#cli/output.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  orMissing,
  pathOf,
} from '#cli/command-context.ts';
import { type CodeHookDefinition, hasCode, hostNameOf } from '#features/code-tools/index.ts';
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { withCodeHooks } from '../code-hooks.ts';
import { requireProject } from '../open-folder.ts';
import { hasFeatures, readOwnFeatures, requireOwnFeatures } from '../own-features.ts';
import { planProject } from '../plan.ts';
import { readProject } from '../read-project.ts';
import { startCommand, type StartedCommand } from '../start-command.ts';
import { startIfNone } from '../start-installation.ts';
import { applyChanges, printPlan } from './deploy.ts';

export function register(dev: Command): void {
  dev.argument('[folder]', 'as `tempoclaw init` makes it', '.').action(run);
}

/** A change of a file comes as several events. */
const SETTLE_MS = 150;
/** Changes here are those of tools. */
const CODE = /\.(?:[mc]?[jt]s|py|json|env)$/;
const IGNORED = /^\.(?!env$)|^node_modules$/;
/** Between the end of a process of the tools and its next start. */
const RESTART_MS = 1_000;
/** What starts again after a change. */
type Restarted = 'tools' | 'installation';
/** How long the tools of a folder may take to be loaded and served. */
const SERVE_MS = 60_000;

async function run(folder: string, flags: ApiOptions): Promise<void> {
  const path = resolve(folder);
  const options = { ...flags, ...(flags.stateDir !== undefined && { stateDir: resolve(flags.stateDir) }) };
  requireProject(path);
  process.chdir(path);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const own = await startIfNone(options, stop.signal);
  const context = createContext(options);
  if (!own) await requireOwnFeatures(context, path).catch((error: unknown) => sayError(context.err, error));
  const installation = createInstallation(own, context, () => startIfNone(options, stop.signal));
  const tools = createToolServer(context, path, options, stop.signal);
  try {
    await followChanges(context, path, { tools, installation }, stop.signal);
  } finally {
    await tools.pause();
    await installation.end();
  }
}

interface Installation {
  /**
   * Starts it with the features of the folder as they are now, if they have changed and can be used, and it was started
   * here. `onEnd`: before it ends.
   */
  restart(onEnd: () => Promise<void>): Promise<void>;
  end(): Promise<void>;
}

/** `started`: undefined when it was not started here. */
function createInstallation(
  started: StartedCommand | undefined,
  { client, out, err }: CommandContext,
  start: () => Promise<StartedCommand | undefined>,
): Installation {
  let own = started;
  return {
    async restart(onEnd) {
      const { features, problems } = await readOwnFeatures('.');
      for (const problem of problems) err.line(problem);
      if (problems.length > 0) return err.line('The features before this change go on.');
      if (await hasFeatures(client, features)) return;
      if (!own)
        return err.line('Start the installation again for the changed features: it was not started here.');
      out.line('Starts again with the changed features.');
      await onEnd();
      await own.end();
      own = await start();
    },
    end: async () => own?.end(),
  };
}

function sayError(err: Output, error: unknown): void {
  err.line(error instanceof Error ? error.message : String(error));
}

interface ToolServer {
  /** Starts a host with the tools as they are now, which replaces the one before once it takes calls. */
  restart(): Promise<void>;
  /** Ends the host; the next one starts with `restart`. */
  pause(): Promise<void>;
}

/** `signal`: no host starts after it. */
function createToolServer(
  { client, out, err }: CommandContext,
  folder: string,
  options: ApiOptions,
  signal: AbortSignal,
): ToolServer {
  /** A host that is lost, a change and the end may all come at once. */
  const inTurn = oneAtATime();
  const over = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  let current: StartedCommand | undefined;

  async function restart(): Promise<void> {
    if (signal.aborted || !hasCode(folder)) return;
    const { url, key } = client.target();
    const target = options.url === undefined ? [] : ['--url', url];
    const next = startCommand(['tools', 'serve', folder, '--host', hostNameOf(folder), ...target], 'lines', {
      ...(key !== undefined && options.apiKey !== undefined && { TEMPOCLAW_API_KEY: key }),
    });
    const first = await withTimeout(SERVE_MS, Promise.race([next.firstLine(), over]));
    if (first === undefined) {
      if (!next.hasEnded()) await next.end();
      if (signal.aborted) return;
      err.line(next.errors().trim() || 'The tools cannot be served: their process says nothing.');
      err.line(current ? 'The tools before this change go on.' : 'Correct them; they start by themselves.');
      return;
    }
    out.line(first);
    const before = current;
    current = next;
    await before?.end();
    void restartWhenLost(next);
  }

  /** A process that ends by itself starts again, so that calls it has lost are probed. */
  async function restartWhenLost(served: StartedCommand): Promise<void> {
    const isLost = (): boolean => served === current && !signal.aborted;
    await served.ended;
    if (!isLost()) return;
    err.line('The process of the tools has ended; it starts again.');
    await sleep(RESTART_MS);
    await inTurn(async () => {
      if (isLost()) await restart();
    });
  }

  async function pause(): Promise<void> {
    const before = current;
    current = undefined;
    await before?.end();
  }

  return { restart: () => inTurn(restart), pause: () => inTurn(pause) };
}

async function followChanges(
  context: CommandContext,
  folder: string,
  { tools, installation }: { readonly tools: ToolServer; readonly installation: Installation },
  signal: AbortSignal,
): Promise<void> {
  const inTurn = oneAtATime();
  const update = (changed: ReadonlySet<Restarted>): Promise<void> =>
    inTurn(async () => {
      if (changed.has('installation')) await installation.restart(tools.pause);
      if (changed.size > 0) await tools.restart();
      if (!signal.aborted) await deployFolder(context, folder);
    }).catch((error: unknown) => {
      // What is ended in the middle fails in many ways.
      if (!signal.aborted) sayError(context.err, error);
    });
  let changed = new Set<Restarted>();
  let timer: NodeJS.Timeout | undefined;
  const watcher = watchFolder(folder, (path) => {
    if (path.startsWith(join(folder, 'features', sep))) changed.add('installation');
    else if (CODE.test(path)) changed.add('tools');
    clearTimeout(timer);
    timer = setTimeout(() => {
      const all = changed;
      changed = new Set();
      void update(all);
    }, SETTLE_MS);
  });
  try {
    await update(new Set(['tools']));
    context.out.line('Follows the changes of this folder; Ctrl-C ends it.');
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), { once: true });
    });
  } finally {
    clearTimeout(timer);
    await watcher.close();
    // What an update starts is ended only after it.
    await update(new Set());
  }
}

/**
 * Calls `onChange` with the path of each file that changes, except those of packages and of ours. Node's own `watch` loses
 * the changes of editors that save a file by renaming another one to it.
 */
function watchFolder(folder: string, onChange: (path: string) => void): Pick<FSWatcher, 'close'> {
  const isIgnored = (path: string): boolean =>
    relative(folder, path)
      .split(sep)
      .some((name) => IGNORED.test(name));
  return watch(folder, { ignored: isIgnored, ignoreInitial: true }).on('all', (_event, path) =>
    onChange(path),
  );
}

async function deployFolder({ client, out, err }: CommandContext, folder: string): Promise<void> {
  const hooks = await registeredHooks(client, folder);
  const project = withCodeHooks(await readProject(folder), hostNameOf(folder), hooks);
  for (const problem of project.problems) err.line(problem);
  const changes = await planProject(client, project);
  if (changes.length === 0) return;
  await applyChanges(changes);
  printPlan(out, changes);
}

/** Those that the process of the tools has registered: it has loaded the files as they are now. */
async function registeredHooks(client: Client, folder: string): Promise<readonly CodeHookDefinition[]> {
  if (!hasCode(folder)) return [];
  const host = await orMissing(
    client.get<{ readonly hooks: readonly CodeHookDefinition[] }>(pathOf('tool-hosts', hostNameOf(folder))),
  );
  return host?.hooks ?? [];
}
