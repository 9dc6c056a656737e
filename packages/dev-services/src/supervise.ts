/** Keeps one part running: restarts it whenever it ends by itself, with growing pauses when that does not last. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from './child.ts';
import { exitWords } from './child.ts';

/** A part that stayed up this long is restarted at once, and its pauses start over. */
const STEADY_MS = 10_000;
const FIRST_PAUSE_MS = 500;
/** Short enough that everything is back soon after the cause (a full disk) is gone. */
const LONGEST_PAUSE_MS = 10_000;

export interface SuperviseOptions {
  readonly name: string;
  /** Resolves when the part is ready; must end what it started when it throws. */
  readonly start: () => Promise<Child>;
  /** Called with what happens, in words for a person. */
  readonly onEvent: (text: string) => void;
  readonly firstPauseMs?: number;
  readonly steadyMs?: number;
}

export interface Supervised {
  /** After this, an end is final; `stop` calls it by itself. */
  letGo(): void;
  stop(): Promise<void>;
}

/** Starts the part and keeps it running. Throws when the first start fails; later failures are reported and retried. */
export async function supervise(options: SuperviseOptions): Promise<Supervised> {
  const ending = new AbortController();
  let current: Child | undefined = await options.start();
  const watch = keepRunning(options, ending.signal, current, (child) => {
    current = child;
  });
  return {
    letGo: () => ending.abort(),
    async stop() {
      ending.abort();
      await current?.stop();
      await watch;
      // A start that was under way when the stop came has set a new child.
      await current?.stop();
    },
  };
}

async function keepRunning(
  options: SuperviseOptions,
  ending: AbortSignal,
  first: Child,
  onChild: (child: Child | undefined) => void,
): Promise<void> {
  const { name, onEvent, firstPauseMs = FIRST_PAUSE_MS, steadyMs = STEADY_MS } = options;
  let pause = firstPauseMs;
  let child: Child | undefined = first;
  let since = performance.now();
  while (!ending.aborted) {
    if (child !== undefined) {
      const exit = await child.exited;
      if (ending.aborted) return;
      if (performance.now() - since > steadyMs) pause = 0;
      onEvent(`${name} ended (${exitWords(exit)}); starting it again ${inWords(pause)}`);
    }
    try {
      await sleep(pause, undefined, { signal: ending });
    } catch {
      // It was woken in order to end.
      return;
    }
    pause = Math.min(Math.max(pause * 2, firstPauseMs), LONGEST_PAUSE_MS);
    try {
      child = await options.start();
      since = performance.now();
      onChild(child);
      onEvent(`${name} runs again (pid ${child.pid})`);
    } catch (error) {
      child = undefined;
      onChild(undefined);
      if (ending.aborted) return;
      // The first line has the reason; the log has the rest.
      const [words = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
      onEvent(`${name} did not start: ${words.replace(/\.$/, '')}; trying again ${inWords(pause)}`);
    }
  }
}

function inWords(pauseMs: number): string {
  return pauseMs === 0 ? 'at once' : `in ${pauseMs / 1_000} s`;
}
