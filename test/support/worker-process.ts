/** One of our programs as a process of its own, which can be killed at any point and started again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '@tempoclaw/dev-services/processes';

/** Something that runs, is killed with SIGKILL, and returns as it was: same data, same port. */
export interface Killable {
  start(): Promise<void>;
  /** Sends SIGKILL by pid; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Ends it in order. Safe when it does not run. */
  stop(): Promise<void>;
  readonly pid: number | undefined;
}

/** `launch` starts it; it is tried again for half a minute, because a killed process may still hold its port. */
export function createKillable(launch: () => Promise<Child>): Killable {
  let child: Child | undefined;
  return {
    get pid() {
      return child?.pid;
    },
    async start() {
      for (const deadline = Date.now() + 30_000; ; ) {
        try {
          child = await launch();
          return;
        } catch (error) {
          if (Date.now() > deadline) throw error;
          await sleep(250);
        }
      }
    },
    async kill() {
      const killed = child;
      if (!killed) throw new Error('nothing runs that could be killed');
      child = undefined;
      process.kill(killed.pid, 'SIGKILL');
      await killed.exited;
    },
    async stop() {
      const stopped = child;
      child = undefined;
      await stopped?.stop();
    },
  };
}
