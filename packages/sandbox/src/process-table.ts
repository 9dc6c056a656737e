/**
 * The processes on this machine, from Linux's /proc. On other systems it is empty, and only process groups are known.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** `Z` and `X` are already dead. */
  readonly state: string;
  /** Clock ticks since boot: with the pid it identifies a process permanently. */
  readonly started: string;
}

/** Undefined when the process does not exist (or there is no /proc). */
export function processRow(pid: number): ProcessRow | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
  const [state, parent, group, session] = fields;
  const started = fields[19];
  if (state === undefined || started === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), state, started };
}

/** Other work of the event loop may run after this many rows. */
const BATCH = 100;

/** Up to this many ids are read one by one: listing all of /proc costs more, and another turn of the event loop. */
const NEAR = 32;

/** All processes, or those with larger ids than `after`, without reading the others. */
export async function processTable(after = 0): Promise<readonly ProcessRow[]> {
  const younger = after > 0 ? (lastPid() ?? 0) - after : NEAR + 1;
  if (younger >= 0 && younger <= NEAR) {
    const ids = Array.from({ length: younger }, (_, index) => after + 1 + index);
    return ids.map(processRow).filter((row) => row !== undefined);
  }
  let names: string[];
  try {
    names = await readdir('/proc');
  } catch {
    // No /proc on this system.
    return [];
  }
  const rows: ProcessRow[] = [];
  let read = 0;
  for (const name of names) {
    if (!/^\d+$/.test(name) || Number(name) <= after) continue;
    const row = processRow(Number(name));
    if (row !== undefined) rows.push(row);
    read += 1;
    if (read % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return rows;
}

/** The id that the kernel assigned last, which is the largest until ids wrap around; undefined when it is unknown. */
export function lastPid(): number | undefined {
  const value = Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1));
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

/** The environment a process was started with; undefined when it may not be read or the process has ended. */
export function environmentOf(pid: number): string | undefined {
  return readProc(`/proc/${pid}/environ`);
}

/** Its arguments in order, with NUL between them; undefined when it has ended. */
export function commandOf(pid: number): string | undefined {
  return readProc(`/proc/${pid}/cmdline`);
}

/** Its memory in pages of 4 KiB, as /proc counts them; 0 when it has ended. */
export function residentBytes(pid: number): number {
  return Number(readProc(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * 4096;
}

export function isAlive({ state }: ProcessRow): boolean {
  return state !== 'Z' && state !== 'X';
}

/** `pid.started` of this process; only the pid when /proc is missing. */
export function ownIdentity(): string {
  const row = processRow(process.pid);
  return row === undefined ? String(process.pid) : identityOf(row);
}

export function identityOf({ pid, started }: ProcessRow): string {
  return `${pid}.${started}`;
}

/** An environment is read up to this size. It is generous, because our marks come last in it. */
const MAX_BYTES = 1024 * 1024;
const chunk = Buffer.allocUnsafe(16 * 1024);

/** Synchronous: the kernel answers from memory in some microseconds, and the thread pool would cost ten times that. */
function readProc(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    let text = '';
    for (let got = chunk.length; got > 0 && text.length < MAX_BYTES; ) {
      got = readSync(file, chunk, 0, chunk.length, null);
      text += chunk.toString('latin1', 0, got);
    }
    return text;
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
