/** What runs on this machine, as Linux tells it under /proc. Elsewhere it is empty, and only process groups are known. */
import { closeSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** `Z` and `X` are dead already. */
  readonly state: string;
  /** Clock ticks since boot: with the pid it names a process for ever. */
  readonly started: string;
}

/** Undefined when there is no such process (or no /proc). */
export function processRow(pid: number): ProcessRow | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
  const [state, parent, group, session] = fields;
  const started = fields[19];
  if (state === undefined || started === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), state, started };
}

/** Others may run between so many rows. */
const BATCH = 100;

/** So few ids are looked at one by one: listing all of /proc costs more, and another turn of the event loop. */
const NEAR = 32;

/** All processes, or those with larger ids than `after`, which spares reading the others. */
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

/** The id that the kernel gave out last, which is the largest until ids come round; undefined where it does not tell. */
export function lastPid(): number | undefined {
  const value = Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1));
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

/** The environment a process was started with; undefined when it may not be read or the process is gone. */
export function environmentOf(pid: number): string | undefined {
  return readProc(`/proc/${pid}/environ`);
}

/** Its words one behind another, NUL between them; undefined when it is gone. */
export function commandOf(pid: number): string | undefined {
  return readProc(`/proc/${pid}/cmdline`);
}

/** What it has in memory, in pages of 4 KiB as /proc counts them; 0 when it is gone. */
export function residentBytes(pid: number): number {
  return Number(readProc(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0) * 4096;
}

export function isAlive({ state }: ProcessRow): boolean {
  return state !== 'Z' && state !== 'X';
}

/** `pid.started` of this very process; the pid alone where /proc is missing. */
export function ownIdentity(): string {
  const row = processRow(process.pid);
  return row === undefined ? String(process.pid) : identityOf(row);
}

export function identityOf({ pid, started }: ProcessRow): string {
  return `${pid}.${started}`;
}

/** An environment of more than this is read to here; marks of ours come last in it, so it is generous. */
const MAX_BYTES = 1024 * 1024;
const chunk = Buffer.allocUnsafe(16 * 1024);

/** Synchronous: the kernel answers from memory in some microseconds, a trip through the thread pool costs ten times that. */
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
    // Ended meanwhile, or another user's: neither is ours to look at.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
