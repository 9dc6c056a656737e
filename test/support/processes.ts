/** Reads the processes of this machine from outside, for tests that prove what is left running. */
import { readdirSync, readFileSync } from 'node:fs';

/** Pids of living processes whose command line contains `text`, except this one. */
export function runningWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        if (!command.includes(text)) return false;
        return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] !== 'Z';
      } catch {
        // It ended in the meantime.
        return false;
      }
    })
    .map(Number);
}

/** A number of seconds that no other sleep on this machine has, by which a test finds its own processes. */
export function uniqueSeconds(): string {
  return `9${Math.floor(Math.random() * 1e6)}.${process.pid}`;
}

/** Waits until `check` holds; the test fails by its own assertion when it never does. */
export async function eventually(check: () => boolean | Promise<boolean>, ms = 60_000): Promise<boolean> {
  const wait = growingWait();
  for (const until = performance.now() + ms; performance.now() < until; await wait())
    if (await check()) return true;
  return false;
}

/** Waits briefly at first and then longer, because the awaited work shares the machine with the waiting test. */
export function growingWait(): () => Promise<void> {
  let pause = 5;
  return () => {
    pause = Math.min(100, pause * 1.3);
    return new Promise((resolve) => setTimeout(resolve, pause));
  };
}
