/** Ends what a call runs in a box, from outside of it. What cannot be ended goes with its box. */
import { ENDER } from './box-scripts.ts';
import type { Boxes } from './boxes.ts';
import { type Engine, EngineProblem } from './engine.ts';

/** A command that the engine was just starting is not there yet when it is first looked for. */
const ROUNDS = 5;
/** Past the grace and the rounds of SIGKILL. */
const END_MS = 5_000;

/**
 * True when nothing of the call runs any more, by its processes and by its streams (`closed`); false when the box had to
 * be removed, or could not be.
 */
export async function endAll(
  boxes: Boxes,
  { box, graceMs }: { readonly box: string; readonly graceMs: number },
  mark: string,
  closed: () => Promise<boolean>,
): Promise<boolean> {
  try {
    for (let round = 0; round < ROUNDS && (await endCall(boxes.engine, box, mark, graceMs)); round += 1)
      if (await closed()) return true;
    await boxes.remove(box);
    await closed();
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    boxes.forget(box);
  }
  return false;
}

/** False when some of it is left or the box lets nothing in. */
export async function endCall(engine: Engine, box: string, mark: string, graceMs: number): Promise<boolean> {
  try {
    const exec = await engine.ask((docker, abortSignal) =>
      docker.getContainer(box).exec({
        Cmd: ['/bin/sh', '-c', ENDER, 'tempoclaw', mark, String(Math.ceil(graceMs / 100))],
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
      stream.resume();
      await new Promise((resolve, reject) => stream.once('end', resolve).once('error', reject));
      return (await exec.inspect({ abortSignal })).ExitCode === 0;
    }, graceMs + END_MS);
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    // No container: nothing of it runs.
    return error.status === 404 || error.status === 409;
  }
}
