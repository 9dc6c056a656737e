/** Ends what a killed start left running, found by command lines. */
import type { ProcessMark } from './process-identity.ts';
import { commandLines, endProcess, markProcess } from './process-identity.ts';

/** How long each part gets to end in good order: Postgres flushes, a worker finishes what it does. */
const END_GRACE_MS = 15_000;

export interface LeftoverPart {
  readonly name: string;
  /** Whether a command line, its words joined by spaces, is this part's. */
  readonly isPart: (command: string) => boolean;
  /** Ends it in good order; SIGTERM by default. */
  readonly signal?: NodeJS.Signals;
}

/** A process that cannot be ended. */
export class LeftoverError extends Error {
  readonly pid: number;
  constructor(name: string, pid: number, cause: unknown) {
    const words = cause instanceof Error ? cause.message : String(cause);
    super(`A ${name} of a former start (pid ${pid}) cannot be ended: ${words}`, { cause });
    this.pid = pid;
  }
}

/**
 * Ends the processes that are one of the parts, in the order of the parts; returns their names. It recognizes them only
 * by their command line, because a recorded pid may now belong to any process. Throws a LeftoverError.
 */
export async function endLeftovers(parts: readonly LeftoverPart[]): Promise<string[]> {
  const ended: string[] = [];
  const all = commandLines();
  for (const part of parts)
    for (const { pid } of all.filter(({ command }) => part.isPart(command))) {
      const mark = markProcess(pid);
      if (mark === undefined) continue;
      await end(part, mark);
      ended.push(`${part.name} (pid ${pid})`);
    }
  return ended;
}

async function end({ name, signal = 'SIGTERM' }: LeftoverPart, mark: ProcessMark): Promise<void> {
  try {
    await endProcess(mark, signal, END_GRACE_MS);
  } catch (error) {
    throw new LeftoverError(name, mark.pid, error);
  }
}
