/** Inspects the processes of this machine from outside, for tests that prove what is left running. */
import { readdirSync, readFileSync } from 'node:fs';

/** Pids of living processes whose command line contains `text`, without this one. */
export function runningWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        if (!command.includes(text)) return false;
        return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] !== 'Z';
      } catch {
        // It ended meanwhile.
        return false;
      }
    })
    .map(Number);
}

/** A number of seconds that no other sleep on this machine has, to find a test's own processes. */
export function uniqueSeconds(): string {
  return `9${Math.floor(Math.random() * 1e6)}.${process.pid}`;
}

/** Waits until `check` is true; the test's own assertion fails when it never is. */
export async function eventually(check: () => boolean | Promise<boolean>, ms = 60_000): Promise<boolean> {
  let pause = 5;
  for (const until = performance.now() + ms; performance.now() < until; ) {
    if (await check()) return true;
    pause = Math.min(100, pause * 1.3);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return false;
}
