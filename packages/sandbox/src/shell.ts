/** Runs one shell command to its end: bounded time, bounded output, and nothing of it remains running. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { BoxOwner } from './box/box-spec.ts';
import type { BoxSettings, CommandPlace } from './settings/settings.ts';
import { HOST_LIMITS } from './host-limits.ts';
import { GRACE_MS, killLeftovers, killTree, type Target } from './kill-tree.ts';
import { type CommandEnd, createLauncher, type Launched, type Launcher, LaunchLost } from './launcher.ts';
import { marksOf } from './marks.ts';
import { createOutputWindow, type OutputWindow } from './output-window.ts';
import { lastPid } from './process-table.ts';
import { quoteWord } from './quote-word.ts';
import type { HostWall } from './wall.ts';

/** A program that is started directly, without a shell, so that nothing interprets its arguments. */
export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Variables besides those of every command. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface CommandRequest {
  /** A command line for the shell, or a program. */
  readonly command: string | Program;
  /** The `cwd` for spawn, and the real path for PWD. */
  readonly cwd: string;
  readonly pwd: string;
  /** Its own folders (launcher.ts). */
  readonly folders: readonly string[];
  /** Variables besides those of every command; only this command may see them. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The sandbox that it must run in; a plain host shell ignores it. */
  readonly box?: BoxRequest;
  /** A program with arguments that runs the command's shell. */
  readonly prefix?: readonly string[];
  /** Identifies this run; part of the mark by which its processes are found. */
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Receives pieces of output as they arrive; the caller must limit them. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface BoxRequest {
  readonly sandbox: BoxSettings;
  readonly owner: BoxOwner;
  /** Working directory relative to the workspace; '' for the workspace itself. */
  readonly inside: string;
  readonly timeoutMs: number;
}

export interface CommandOutcome {
  /**
   * `unstarted`: the shell itself could not be run; `stderr` says why. `unboxed`: there is no sandbox and the command
   * has not run. `lost`: its sandbox was lost while it ran. `reason` says why.
   */
  readonly ended: 'exit' | 'signal' | 'timeout' | 'cancelled' | 'unstarted' | 'unboxed' | 'lost';
  readonly reason?: string;
  /** The time limit, when it was not the request's. */
  readonly timeoutMs?: number;
  /** A line for the caller besides the output. */
  readonly note?: string;
  readonly exitCode: number | null;
  readonly signalName: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** Number of processes that the command left running and that were ended. */
  readonly leftovers: number;
}

export type BackgroundLine =
  | {
      readonly ok: true;
      readonly line: string;
      readonly note?: string;
      /** How long the line may take after SIGTERM to end the command that it represents, when longer than usual. */
      readonly graceMs?: number;
    }
  | { readonly ok: false; readonly reason: string };

export interface Shell {
  /** Never throws because of the command. The command itself decides whether a retry is safe. */
  run(request: CommandRequest): Promise<CommandOutcome>;
  /** The path at which the caller's commands see the workspace. */
  workspacePath(workspace: string, sandbox: BoxSettings | undefined): Promise<string>;
  /** Where a command of the caller would find its programs. Never throws. */
  placeOf(sandbox: BoxSettings | undefined): Promise<CommandPlace>;
  /**
   * The command line that runs a background command in its sandbox, with its own folders, and a note for the caller.
   */
  backgroundLine(
    command: string,
    folders: readonly string[],
    box: BoxRequest | undefined,
  ): Promise<BackgroundLine>;
}

export interface ShellOptions {
  /** Name that marks what is started here (marks.ts). */
  readonly name: string;
  /** Environment from commandEnvironment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Identity from ownIdentity. */
  readonly worker: string;
  readonly graceMs?: number;
  /** Starts commands whose starter is not confined. */
  readonly launch?: Launcher;
  /**
   * Confines all commands except those with a `prefix`, whose sandbox the confinement would prevent. Absent: commands
   * run like this process.
   */
  readonly wall?: HostWall;
}

/** bash when it exists, because most commands are written for it. */
export function shellProgram(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}

/** How long to wait for a pipe that another process still has. */
const DRAIN_MS = 300;
/**
 * Too short for process ids (at least 32,768) to wrap around: processes that a command started have larger ids than its
 * own.
 */
const ROUND_MS = 250;

export function createShell(options: ShellOptions): Shell {
  const program = shellProgram();
  const graceMs = options.graceMs ?? GRACE_MS;
  const marks = marksOf(options.name);
  const launch = options.launch ?? createLauncher();
  return {
    workspacePath: async (workspace) => workspace,
    placeOf: async () => (options.wall && options.wall.wall !== 'files and network' ? 'open_host' : 'host'),
    backgroundLine: async (command, folders) => ({
      ok: true,
      line: walledLine(command, folders, options.wall),
    }),
    async run(request) {
      if (request.signal.aborted) return notStarted('cancelled', '');
      const stdout = createOutputWindow();
      const stderr = createOutputWindow();
      // Random, because two runs of one id (a retry) must not end each other's processes.
      const value = `${request.callId}.${randomBytes(6).toString('hex')}`;
      const began = performance.now();
      const mark = `${marks.call}=${value}`;
      let child: Launched;
      try {
        child = await start({ launch, wall: options.wall }, program, request, {
          ...options.environment,
          ...request.env,
          [marks.call]: value,
          [marks.worker]: options.worker,
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!(error instanceof LaunchLost)) return notStarted('unstarted', reason);
        await killTree({ pid: 0, mark }, graceMs);
        return { ...notStarted('lost', ''), reason: `${reason}; whether the command ran is not known` };
      }
      const take = (window: OutputWindow) => (chunk: Buffer) => {
        window.write(chunk);
        request.onOutput?.(chunk);
      };
      child.stdout.on('data', take(stdout));
      child.stderr.on('data', take(stderr));
      const { pid, since, keeper } = child;
      const target: Target = { pid, mark, since, keeper };
      const { kind, code, signal } = await ending(child, request);
      const byItself = kind === 'exit' || kind === 'signal';
      if (!byItself) await killTree(target, graceMs);
      // A command in a pipe (`a | b`) may have written its last output an instant ago.
      const drained = byItself && (await closed(child, DRAIN_MS));
      const leftovers = byItself ? await killLeftovers(amongYounger(target, began), graceMs) : 0;
      if (!drained) await closed(child, DRAIN_MS);
      child.stdout.destroy();
      child.stderr.destroy();
      return {
        ended: kind,
        reason: kind === 'lost' ? LOST : undefined,
        exitCode: code,
        signalName: signal,
        stdout: stdout.text(),
        stderr: stderr.text(),
        stdoutBytes: stdout.total,
        stderrBytes: stderr.total,
        leftovers,
      };
    },
  };
}

const LOST = 'the process that started the command was lost, and the command was ended';

/** Avoids reading every process's row after a short command. */
function amongYounger(target: Target, began: number): Target {
  const cameRound = performance.now() - began >= ROUND_MS || (lastPid() ?? 0) < target.pid;
  return cameRound ? target : { ...target, after: target.pid };
}

function start(
  by: { readonly launch: Launcher; readonly wall: HostWall | undefined },
  program: string,
  request: CommandRequest,
  env: Record<string, string>,
): Promise<Launched> {
  const { command, cwd, folders, prefix = [] } = request;
  const wall = prefix.length > 0 ? undefined : by.wall;
  const starter = wall?.start ?? by.launch;
  const own = { ...env, ...wall?.environment(folders) };
  if (typeof command !== 'string') {
    const { file, args, environment } = command;
    const all = { ...own, ...environment, PWD: request.pwd };
    return starter({ file, args, cwd, env: all, folders, apart: true });
  }
  const args = ['-c', `${HOST_LIMITS}\nexec "$@"`, 'sh', ...prefix, program, '-c', command];
  const apart = request.env !== undefined;
  return starter({ file: '/bin/sh', args, cwd, env: { ...own, PWD: request.pwd }, folders, apart });
}

/** The command line that runs a command confined separately. */
function walledLine(command: string, folders: readonly string[], wall: HostWall | undefined): string {
  const prefix = wall?.prefix(folders) ?? [];
  if (wall === undefined || prefix.length === 0) return command;
  const variables = Object.entries(wall.environment(folders)).map(([name, value]) => `${name}=${value}`);
  return `exec env ${[...variables, ...prefix, shellProgram(), '-c', command].map(quoteWord).join(' ')}`;
}

interface ShellEnd extends CommandEnd {
  readonly kind: 'exit' | 'signal' | 'timeout' | 'cancelled' | 'lost';
}

function ending(child: Launched, request: CommandRequest): Promise<ShellEnd> {
  return new Promise((resolve) => {
    const settle = (kind: ShellEnd['kind'], { code, signal }: CommandEnd): void => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', cancel);
      resolve({ kind, code, signal });
    };
    const cut = (kind: 'cancelled' | 'timeout') => () => settle(kind, { code: null, signal: null });
    const cancel = cut('cancelled');
    const timer = setTimeout(cut('timeout'), request.timeoutMs);
    request.signal.addEventListener('abort', cancel, { once: true });
    if (request.signal.aborted) cancel();
    const kindOf = ({ code, signal }: CommandEnd): ShellEnd['kind'] =>
      code === null ? (signal === null ? 'lost' : 'signal') : 'exit';
    void child.end.then((end) => settle(kindOf(end), end));
  });
}

/** True when both streams have ended within `ms`. */
async function closed({ stdout, stderr }: Launched, ms: number): Promise<boolean> {
  const ended = (): boolean => stdout.readableEnded && stderr.readableEnded;
  if (ended()) return true;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  const pending = [stdout, stderr].map((stream) =>
    finished(stream, { writable: false, signal: late.signal }),
  );
  // A broken pipe has ended too, and a timeout is not a failure.
  await Promise.allSettled(pending);
  clearTimeout(timer);
  return ended();
}

/** The outcome of a command that has not run. */
export function notStarted(
  ended: 'cancelled' | 'unstarted' | 'unboxed' | 'lost',
  reason: string,
): CommandOutcome {
  return {
    ended,
    exitCode: null,
    signalName: null,
    stdout: '',
    stderr: reason,
    reason: ended === 'unboxed' ? reason : undefined,
    stdoutBytes: 0,
    stderrBytes: 0,
    leftovers: 0,
  };
}
