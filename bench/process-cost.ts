/** Reads what processes have cost so far, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports times in ticks of 10 ms on every machine that Node runs on. */
const TICK_MS = 10;

/**
 * CPU milliseconds of the process with all its threads, and of its children and what they awaited. It is 0 without
 * /proc.
 */
export function cpuMs(pid: number): number {
  const own = statOf(pid);
  if (own === undefined) return 0;
  const living = childrenOf(pid).reduce((sum, child) => {
    const { own: used = 0, ended = 0 } = statOf(child) ?? {};
    return sum + used + ended;
  }, 0);
  return own.own + own.ended + living;
}

/** Megabytes of memory of the process and its children that are resident; 0 without /proc. */
export function residentMb(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + residentOf(one), 0);
}

function residentOf(pid: number): number {
  try {
    const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kb ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function statOf(pid: number): { own: number; ended: number; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it may contain anything, including blanks and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const at = (index: number): number => Number(fields[index] ?? 0);
    return { parent: at(1), own: (at(11) + at(12)) * TICK_MS, ended: (at(13) + at(14)) * TICK_MS };
  } catch {
    // The process has ended, or this is not Linux.
    return undefined;
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => statOf(child)?.parent === pid);
}
