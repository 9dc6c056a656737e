/** Ends what a call runs in a container, from outside. If something cannot be ended, the container is removed. */
import type { Readable } from 'node:stream';
import { ENDER, NONE_LEFT } from './box-scripts.ts';
import type { Boxes } from './boxes.ts';
import { type Engine, EngineProblem } from './engine.ts';

/** Longer than the grace period and the rounds of SIGKILL. */
const END_MS = 5_000;
/** A container that is full of processes accepts no command, and is removed. */
const MAX_FAILURES = 2;
/** How long to wait for the rest of a pipe after the command has ended. */
const DRAIN_MS = 300;

/**
 * True when nothing of the call runs any more, by its processes and its streams. False when the container had to be
 * removed, or could not be.
 */
export async function endAll(
  boxes: Boxes,
  { box, graceMs }: { readonly box: string; readonly graceMs: number },
  mark: string,
  stream: Readable,
): Promise<boolean> {
  try {
    if (await endUntilClosed(boxes.engine, box, mark, graceMs, stream)) return true;
    await boxes.remove(box);
    await untilClosed(stream);
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    boxes.forget(box);
  }
  return false;
}

/**
 * Ends processes with the mark until its streams are over too: a command that the engine is just starting is not found
 * by the first search. False when that took too long, some of it remains or the container accepts no command.
 */
export async function endUntilClosed(
  engine: Engine,
  box: string,
  mark: string,
  graceMs: number,
  stream: Readable,
): Promise<boolean> {
  let failures = 0;
  for (const until = performance.now() + END_MS; failures < MAX_FAILURES && performance.now() < until; ) {
    const ended = await endCall(engine, box, mark, graceMs);
    if (!ended) failures += 1;
    else if (await untilClosed(stream)) return true;
  }
  return false;
}

/** Whether a command's streams are over, which is when none of its processes has them any more. */
export function untilClosed(stream: Readable): Promise<boolean> {
  const isOver = (): boolean => stream.readableEnded || stream.destroyed;
  if (isOver()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve(isOver());
    };
    const timer = setTimeout(done, DRAIN_MS);
    stream.once('end', done);
    stream.once('close', done);
  });
}

/** False when some of it remains or the container accepts no command. */
async function endCall(engine: Engine, box: string, mark: string, graceMs: number): Promise<boolean> {
  try {
    const exec = await engine.ask((docker, abortSignal) =>
      docker.getContainer(box).exec({
        Cmd: ['/bin/sh', '-c', ENDER, 'sandbox', mark, String(Math.ceil(graceMs / 100))],
        AttachStdout: true,
        Tty: false,
        abortSignal,
      }),
    );
    return await engine.ask(async (_docker, abortSignal) => {
      const stream = await exec.start({
        hijack: false,
        stdin: false,
        Tty: false,
        Detach: false,
        abortSignal,
      });
      let text = '';
      for await (const chunk of stream) text = `${text}${String(chunk)}`.slice(-100);
      return text.includes(NONE_LEFT);
    }, graceMs + END_MS);
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    // Without a container nothing of it runs.
    return error.status === 404 || error.status === 409;
  }
}
