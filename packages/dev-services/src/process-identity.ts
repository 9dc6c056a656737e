/**
 * Tells whether a recorded pid is still the recorded process. Pids are reused, so a pid alone must never be killed. The
 * identity is the kernel's start time of the process.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process as recorded on disk. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time in the platform's format; equal only for the same process. */
  readonly started: string;
}

/** A recorded mark; undefined for anything else. The first process of a container has pid 1. */
export function readMark(value: unknown): ProcessMark | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, started } = value as Readonly<Record<string, unknown>>;
  const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0;
  return isPid && typeof started === 'string' && started !== '' ? { pid, started } : undefined;
}

/** The mark of a running process; undefined when there is none with this pid (a zombie counts as gone). */
export function markProcess(pid: number): ProcessMark | undefined {
  if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
  const started = process.platform === 'linux' ? linuxStart(pid) : psStart(pid);
  return started === undefined ? undefined : { pid, started };
}

/** True when exactly the marked process still runs. */
export function isSameProcess(mark: ProcessMark): boolean {
  return markProcess(mark.pid)?.started === mark.started;
}

/** On Linux, a mark counts in hundredths of a second from the machine's start; elsewhere it is a date. */
export function startTime({ started }: ProcessMark): Date {
  const ticks = /^[\da-f-]+ (\d+)$/.exec(started)?.[1];
  return new Date(ticks === undefined ? started : Date.now() - uptime() * 1_000 + Number(ticks) * 10);
}

/** Ends exactly the marked process: sends `signal`, and SIGKILL when it still runs after `graceMs`. */
export async function endProcess(mark: ProcessMark, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!isSameProcess(mark)) return;
  kill(mark.pid, signal);
  const deadline = Date.now() + graceMs;
  while (isSameProcess(mark)) {
    if (Date.now() > deadline) {
      kill(mark.pid, 'SIGKILL');
      while (isSameProcess(mark)) await sleep(20);
      return;
    }
    await sleep(20);
  }
}

/** The process's command line, its words joined by spaces; undefined when there is no process with this pid. */
export function commandLineOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ');
  } catch {
    // It has ended in the meantime.
    return undefined;
  }
}

/** Bytes of all processes with all their arguments. */
const MAX_OUTPUT = 64 * 1_048_576;

/** Works as `commandLineOf` for every process. */
export function commandLines(): { readonly pid: number; readonly command: string }[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
    return pids.map((pid) => ({ pid: Number(pid), command: commandLineOf(Number(pid)) ?? '' }));
  }
  const args = ['-axww', '-o', 'pid=,command='];
  const lines = execFileSync('ps', args, { encoding: 'utf8', maxBuffer: MAX_OUTPUT });
  const found = lines.matchAll(/^ *(\d+) (.*)$/gm);
  return Array.from(found, ([, pid, command = '']) => ({ pid: Number(pid), command }));
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may itself contain spaces and parentheses; fields are counted after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

function psStart(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.slice(line.indexOf(' ') + 1).trim();
  } catch (error) {
    // ps exits with 1 when there is no such process.
    if (error instanceof Error && 'status' in error && error.status === 1) return undefined;
    throw error;
  }
}
