/** Runs one shell command to its end: bounded time, bounded output, and nothing of it left running afterwards. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { CALL_MARK, GRACE_MS, killLeftovers, killTree, type Target, WORKER_MARK } from './kill-tree.ts';
import type { BoxOwner } from '#activities/sandbox/box-spec.ts';
import type { Sandbox } from '#domain/sandbox.ts';
import { HOST_LIMITS } from './host-limits.ts';
import { lastPid, processRow } from './process-table.ts';
import { createOutputWindow, type OutputWindow } from './output-window.ts';

/** Started by itself, without a shell: nothing of its arguments is read by anybody else. */
export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Beside what every command gets. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface CommandRequest {
  /** A command line for the shell, or a program. */
  readonly command: string | Program;
  /** What spawn is given, and the real path that PWD says. */
  readonly cwd: string;
  readonly pwd: string;
  /** Beside the environment that every command has; for this command's eyes only. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The box it is to run in (SH-3); a plain host shell has no use for it. */
  readonly box?: BoxRequest;
  /** A program that runs the command's shell in its place: that with these arguments before it. */
  readonly prefix?: readonly string[];
  /** Names this run; part of the mark by which its processes are found. */
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Pieces of output as they come; to be bounded by the caller. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface BoxRequest {
  readonly sandbox: Sandbox;
  readonly owner: BoxOwner;
  /** Folder to run in, from the workspace; '' for the workspace itself. */
  readonly inside: string;
  readonly timeoutMs: number;
}

export interface CommandOutcome {
  /**
   * `unstarted`: the shell itself could not be run; `stderr` says why. `unboxed`: there is no box and the command has not
   * run; `lost`: its box was lost while it ran. `reason` says why.
   */
  readonly ended: 'exit' | 'signal' | 'timeout' | 'cancelled' | 'unstarted' | 'unboxed' | 'lost';
  readonly reason?: string;
  /** The time that was allowed, where it was not the request's. */
  readonly timeoutMs?: number;
  /** A line for the model beside the output. */
  readonly note?: string;
  readonly exitCode: number | null;
  readonly signalName: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** Processes that the command left running and that were ended. */
  readonly leftovers: number;
}

export type BackgroundLine =
  | {
      readonly ok: true;
      readonly line: string;
      readonly note?: string;
      /** How long the line may take to end what it stands for once it has SIGTERM, where that is longer than usual. */
      readonly graceMs?: number;
    }
  | { readonly ok: false; readonly reason: string };

export interface Shell {
  /** Never throws for what the command does. Retry safety is the command's own. */
  run(request: CommandRequest): Promise<CommandOutcome>;
  /** The path under which the caller's commands see the workspace. */
  workspacePath(workspace: string, sandbox: Sandbox | undefined): Promise<string>;
  /** The command line that runs a background command where the box says, and a note for the model. */
  backgroundLine(command: string, box: BoxRequest | undefined): Promise<BackgroundLine>;
}

export interface ShellOptions {
  /** From commandEnvironment. */
  readonly environment: Readonly<Record<string, string>>;
  /** From ownIdentity. */
  readonly worker: string;
  readonly graceMs?: number;
}

/** bash where there is one, since models write for it. */
export function shellProgram(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}

/** A pipe that somebody else still holds is not waited for longer. */
const DRAIN_MS = 300;
/** Too short for process ids (32,768 at the least) to come round: what a command started has a larger one than its own. */
const ROUND_MS = 250;

export function createShell(options: ShellOptions): Shell {
  const program = shellProgram();
  const graceMs = options.graceMs ?? GRACE_MS;
  return {
    workspacePath: async (workspace) => workspace,
    backgroundLine: async (line) => ({ ok: true, line }),
    async run(request) {
      if (request.signal.aborted) return notStarted('cancelled', '');
      const stdout = createOutputWindow();
      const stderr = createOutputWindow();
      // Random, since two runs of one id (a retry) must not end each other's processes.
      const value = `${request.callId}.${randomBytes(6).toString('hex')}`;
      const began = performance.now();
      let child: Child;
      try {
        child = start(program, request, {
          ...options.environment,
          ...request.env,
          [CALL_MARK]: value,
          [WORKER_MARK]: options.worker,
        });
      } catch (error) {
        return notStarted('unstarted', error instanceof Error ? error.message : String(error));
      }
      const take = (window: OutputWindow) => (chunk: Buffer) => {
        window.write(chunk);
        request.onOutput?.(chunk);
      };
      child.stdout.on('data', take(stdout));
      child.stderr.on('data', take(stderr));
      const since = Number(child.pid === undefined ? 0 : (processRow(child.pid)?.started ?? 0));
      const end = await ending(child, request);
      if (end.kind === 'unstarted') return notStarted('unstarted', end.reason);
      const target: Target = { pid: child.pid as number, mark: `${CALL_MARK}=${value}`, since };
      const byItself = end.kind === 'exit' || end.kind === 'signal';
      if (!byItself) await killTree(target, graceMs);
      // A command in a pipe of its own (`a | b`) may have written its last words an instant ago.
      const drained = byItself && (await closed(child, DRAIN_MS));
      const leftovers = byItself ? await killLeftovers(amongYounger(target, began), graceMs) : 0;
      if (!drained) await closed(child, DRAIN_MS);
      child.stdout.destroy();
      child.stderr.destroy();
      return {
        ended: end.kind,
        exitCode: child.exitCode,
        signalName: child.signalCode,
        stdout: stdout.text(),
        stderr: stderr.text(),
        stdoutBytes: stdout.total,
        stderrBytes: stderr.total,
        leftovers,
      };
    },
  };
}

/** Spares reading every process's row after a command that was over soon. */
function amongYounger(target: Target, began: number): Target {
  const cameRound = performance.now() - began >= ROUND_MS || (lastPid() ?? 0) < target.pid;
  return cameRound ? target : { ...target, after: target.pid };
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(program: string, request: CommandRequest, env: Record<string, string>): Child {
  const { command, prefix = [] } = request;
  const line = ['-c', `${HOST_LIMITS}\nexec "$@"`, 'sh', ...prefix, program, '-c'];
  const started =
    typeof command === 'string' ? { file: '/bin/sh', args: [...line, command], environment: {} } : command;
  return spawn(started.file, started.args, {
    cwd: request.cwd,
    env: { ...env, ...started.environment, PWD: request.pwd },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A session and process group of its own, so that the whole can be signalled.
    detached: true,
  });
}

type End =
  | { readonly kind: 'exit' | 'signal' | 'timeout' | 'cancelled' }
  | { readonly kind: 'unstarted'; readonly reason: string };

function ending(child: Child, request: CommandRequest): Promise<End> {
  return new Promise((resolve) => {
    const settle = (end: End): void => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', cancel);
      resolve(end);
    };
    const cancel = (): void => settle({ kind: 'cancelled' });
    const timer = setTimeout(() => settle({ kind: 'timeout' }), request.timeoutMs);
    request.signal.addEventListener('abort', cancel, { once: true });
    child.once('error', (error) => settle({ kind: 'unstarted', reason: error.message }));
    child.once('exit', (code) => settle({ kind: code === null ? 'signal' : 'exit' }));
  });
}

/** True when both streams have ended within `ms`. */
function closed(child: Child, ms: number): Promise<boolean> {
  const ended = (): boolean => child.stdout.readableEnded && child.stderr.readableEnded;
  if (ended()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      child.removeListener('close', done);
      resolve(ended());
    };
    const timer = setTimeout(done, ms);
    child.once('close', done);
  });
}

/** The outcome of what has not run. */
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
    ...(ended === 'unboxed' ? { reason } : {}),
    stdoutBytes: 0,
    stderrBytes: 0,
    leftovers: 0,
  };
}
