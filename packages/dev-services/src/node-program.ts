/** Starts a Node program that uses supervised.ts, and waits until it reports that it is ready. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import type { Child } from './child.ts';
import { startChild, waitUntil } from './child.ts';
import type { SupervisorMessage } from './supervised.ts';

/** A program that first bundles its code takes the longest, on a slow machine. */
const READY_MS = 180_000;
/** Several beats: a busy machine delays one, and a killed worker's running commands are lost. */
const SILENT_MS = 15_000;
const LOOK_MS = 1_000;

export interface NodeProgramOptions {
  readonly name: string;
  /** Absolute path of its main.ts. */
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly stopGraceMs: number;
  readonly onProgress?: (detail: string) => void;
  readonly onSpawn?: (child: Child) => void;
  /** Called before a ready program is killed because it was silent for this long. Without it, beats are not watched. */
  readonly onHung?: (silentMs: number) => void;
  readonly silentMs?: number;
}

/** Resolves when the program is ready. If it does not become ready, ends it and throws with its last output. */
export async function startNodeProgram<Ready extends object>(
  options: NodeProgramOptions,
): Promise<{ child: Child; ready: Ready }> {
  let ready: Ready | undefined;
  let beat = (): void => undefined;
  const child = await startChild({
    name: options.name,
    command: process.execPath,
    // Otherwise a signal from a command would make it listen for a debugger.
    args: [
      '--disable-warning=ExperimentalWarning',
      '--disable-sigusr1',
      options.main,
      ...(options.args ?? []),
    ],
    env: { ...compileCache(), ...options.env },
    logFile: options.logFile,
    ipc: true,
    stopGraceMs: options.stopGraceMs,
    onMessage: (message) => {
      // The program's own supervised.ts sends it.
      const notice = message as SupervisorMessage<Ready>;
      if (notice.type === 'ready') ready = notice;
      else if (notice.type === 'progress') options.onProgress?.(notice.step);
      else beat();
    },
  });
  options.onSpawn?.(child);
  try {
    const answer = await waitUntil(child, () => ready, READY_MS);
    if (options.onHung !== undefined) beat = watchBeats(child, options.onHung, options.silentMs ?? SILENT_MS);
    return { child, ready: answer };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/**
 * Kills the child after `silentMs` without a beat; returns the function to call at each beat. It counts checks and not
 * time: while this process was suspended (a sleeping laptop, a stopped job), it has not yet read the beats that came.
 */
function watchBeats(child: Child, onHung: (silentMs: number) => void, silentMs: number): () => void {
  let attempts = 0;
  const timer = setInterval(() => {
    attempts += 1;
    if (attempts * LOOK_MS < silentMs) return;
    clearInterval(timer);
    onHung(silentMs);
    child.kill();
  }, LOOK_MS);
  void child.exited.then(() => clearInterval(timer));
  return () => {
    attempts = 0;
  };
}

/** Lets a program use the compile cache of this process, if it has one: loading its modules is most of its start. */
function compileCache(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  // Node adds the folder of its version.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
