/**
 * One long-running child process. Its output goes straight to a log file, so it outlives a killed parent. It runs in
 * its own process group, so Ctrl-C reaches it only through us, and it is stopped by pid.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRange } from './log-tail.ts';
import type { ProcessMark } from './process-identity.ts';
import { endProcess, markProcess } from './process-identity.ts';

/** A log larger than this is set aside at the next start, so that logs do not grow forever. */
const ROTATE_BYTES = 20 * 1_048_576;

/** Bytes of a child's output: a panic's stacks are some 20 KB. */
const OUTPUT_BYTES = 65_536;

/** Lines of a child's output that an error shows. */
const SHOWN_LINES = 15;

export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Opens an IPC channel, for Node programs. */
  readonly ipc?: boolean;
  readonly onMessage?: (message: unknown) => void;
  /** Makes its files accessible only to their owner. */
  readonly privateFiles?: boolean;
  readonly stopSignal?: NodeJS.Signals;
  readonly stopGraceMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly mark: ProcessMark;
  readonly exited: Promise<Exit>;
  /** Output written since this start, at most the last 64 KB, for error messages. */
  output(): string;
  /** Ends the process and resolves when it is gone. Safe to call twice. */
  stop(): Promise<void>;
  /** Ends it at once, without grace. */
  kill(): void;
}

/** Starts the process. Throws when it cannot be started at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, logFile } = options;
  const { log, from } = openLog(logFile);
  // A umask is inherited at the spawn, which is synchronous, so nothing else of ours sees the change.
  const umask = options.privateFiles === true ? process.umask(0o077) : undefined;
  const process_ = spawn(options.command, options.args, {
    env: options.env,
    cwd: options.cwd,
    ...options.user,
    detached: true,
    stdio: options.ipc === true ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
  });
  if (umask !== undefined) process.umask(umask);
  if (log !== 'ignore') closeSync(log);
  const exited = new Promise<Exit>((resolve) => {
    process_.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await once(process_, 'spawn').catch((error: Error) => {
    throw new Error(`${name} cannot be started (${options.command}): ${error.message}`);
  });
  // This signal cannot be sent; the end of the process is awaited all the same.
  process_.on('error', () => undefined);
  const pid = process_.pid ?? 0;
  const mark = markProcess(pid) ?? { pid, started: 'ended at once' };
  if (options.onMessage) process_.on('message', options.onMessage);
  return {
    name,
    pid,
    mark,
    exited,
    output: () => readFrom(logFile, from),
    async stop() {
      await endProcess(mark, options.stopSignal ?? 'SIGTERM', options.stopGraceMs ?? 10_000);
      await exited;
    },
    // The pid belongs to the child until Node has seen its end.
    kill: () => void process_.kill('SIGKILL'),
  };
}

/**
 * Waits until `probe` returns a value. Throws, with the end of the child's output, when the child ends or time is up.
 */
export async function waitUntil<T>(
  child: Child,
  probe: () => Promise<T | undefined> | T | undefined,
  timeoutMs: number,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  const ended = child.exited.then((exit) => ({ exit }));
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    const first = await Promise.race([ended, sleep(25)]);
    if (first !== undefined)
      throw new Error(`${child.name} ended at once (${exitWords(first.exit)}).${tail(child)}`);
    if (Date.now() > deadline) {
      throw new Error(`${child.name} was not ready within ${Math.round(timeoutMs / 1_000)} s.${tail(child)}`);
    }
  }
}

/** Formats `code 1` or `signal SIGKILL`. */
export function exitWords(exit: Exit): string {
  return exit.signal === null ? `code ${exit.code ?? 'unknown'}` : `signal ${exit.signal}`;
}

/** The last lines. For a Go program that panicked, these are its last lines before the stack, which have the reason. */
function tail(child: Child): string {
  const lines = child.output().trim().split('\n');
  if (lines[0] === '') return '';
  const panic = lines.findIndex((line) => line.startsWith('panic:'));
  const shown =
    panic === -1 ? lines.slice(-SHOWN_LINES) : lines.slice(Math.max(panic - 1, 0), panic + SHOWN_LINES - 1);
  return `\nIts last output:\n${shown.join('\n')}`;
}

/** The process runs even without a log, if its disk is full. */
function openLog(file: string): { log: number | 'ignore'; from: number } {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const old = statSync(file, { throwIfNoEntry: false });
    if (old !== undefined && old.size > ROTATE_BYTES) renameSync(file, `${file}.1`);
    // Logs may contain what people typed, so only the owner can read them.
    const log = openSync(file, 'a', 0o600);
    return { log, from: fstatSync(log).size };
  } catch (error) {
    if (error instanceof Error && 'code' in error && DISK_FULL.has(error.code))
      return { log: 'ignore', from: 0 };
    throw error;
  }
}

/** Codes of the system for a full disk and an exceeded quota. */
const DISK_FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

function readFrom(file: string, from: number): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const start = Math.max(from, size - OUTPUT_BYTES);
  return size <= start ? '' : readRange(file, start, size).toString('utf8');
}
