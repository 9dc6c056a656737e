/**
 * Runs one command in a container to its end: bounded time and output, and nothing of it remains running in the
 * container.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { type Marks, marksOf } from '../marks.ts';
import { createOutputWindow } from '../output-window.ts';
import { type CommandOutcome, type CommandRequest, notStarted } from '../shell.ts';
import { BOX_ENVIRONMENT } from './box-spec.ts';
import { RUNNER, type Trailer } from './box-scripts.ts';
import type { Boxes } from './boxes.ts';
import { type BoxOutput, createBoxOutput } from './box-output.ts';
import { type Engine, EngineProblem } from './engine.ts';
import { endAll, untilClosed } from './end-call.ts';
import { FIXED } from '../settings/settings.ts';

export interface BoxRun {
  readonly box: string;
  /** The working directory in the container. */
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly graceMs: number;
  /** Identifies this worker in the marks of what it runs. */
  readonly worker: string;
}

/** A program without a shell does not use a container: such programs are ours. */
export type LineRequest = CommandRequest & { readonly command: string };

/** The container was not there to run the command: it has not started, and may be tried in another. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
}

/** For each of the two requests that start a command: a busy engine starts processes slowly. */
const BEGIN_MS = 8_000;
/** Milliseconds between pings of the engine while a command runs, which is given up after a silence. */
const PING_MS = 1_000;
const SILENCE_MS = 8_000;
/** How long to wait for the reason when it is lost. */
const WHY_MS = 1_000;
/** The container itself ends a command that nobody has ended this long after its timeout. */
const OVERTIME_SECONDS = 20;

export async function runInBox(boxes: Boxes, run: BoxRun, request: LineRequest): Promise<CommandOutcome> {
  if (request.signal.aborted) return notStarted('cancelled', '');
  const { engine } = boxes;
  const marks = marksOf(boxes.name);
  const nonce = randomBytes(8).toString('hex');
  const mark = `${marks.call}=${request.callId}.${nonce}`;
  const stream = await begin(engine, run, request, { nonce, mark, marks });
  if (stream instanceof EngineProblem) {
    boxes.lost();
    return { ...notStarted('lost', ''), reason: `${stream.message}; whether the command ran is not known` };
  }
  const stdout = createOutputWindow();
  const stderr = createOutputWindow();
  const output = createBoxOutput(nonce, (fd, chunk) => {
    (fd === 2 ? stderr : stdout).write(chunk);
    request.onOutput?.(chunk);
  });
  const how = await ending(engine, stream, output, { ...run, signal: request.signal });
  if (how === 'ended' && output.found) await untilClosed(stream);
  const clean = output.found?.clean === true && stream.readableEnded;
  const isOver = clean || how === 'lost' || (await endAll(boxes, run, mark, stream));
  stream.destroy();
  output.flush();
  const outcome = await outcomeOf(boxes, run.box, how, output.found);
  return {
    ...outcome,
    stdout: stdout.text(),
    stderr: stderr.text(),
    stdoutBytes: stdout.total,
    stderrBytes: stderr.total,
    timeoutMs: run.timeoutMs,
    // A command that was lost with its container left nothing to end.
    note:
      isOver || outcome.ended === 'lost'
        ? undefined
        : 'the sandbox could not end it and was removed with all in it',
  };
}

async function outcomeOf(
  boxes: Boxes,
  box: string,
  how: How,
  trailer: Trailer | undefined,
): Promise<Pick<CommandOutcome, 'ended' | 'exitCode' | 'signalName' | 'leftovers' | 'reason'>> {
  if (how === 'ended' && trailer) return byItself(trailer);
  const never = { exitCode: null, signalName: null, leftovers: 0 };
  if (how === 'timeout' || how === 'cancelled') return { ended: how, ...never };
  return { ended: 'lost', ...never, reason: await whyLost(boxes, box) };
}

function byItself({ code, signalled, left }: Trailer) {
  const signals = Object.entries(constants.signals);
  const [name] = (signalled && signals.find(([, number]) => number === code - 128)) || [];
  return name === undefined
    ? { ended: 'exit' as const, exitCode: code, signalName: null, leftovers: left }
    : { ended: 'signal' as const, exitCode: null, signalName: name, leftovers: left };
}

/** Throws while it has certainly not started; returns the problem when that is unknown. */
async function begin(
  engine: Engine,
  run: BoxRun,
  request: LineRequest,
  { nonce, mark, marks }: { readonly nonce: string; readonly mark: string; readonly marks: Marks },
): Promise<Readable | EngineProblem> {
  const tenths = String(Math.ceil(run.graceMs / 100));
  const environment = {
    ...BOX_ENVIRONMENT,
    ...request.env,
    ...FIXED,
    PWD: run.cwd,
    [marks.worker]: run.worker,
    // By the engine's clock, which is ours; with time for ending it from here.
    [marks.until]: String(Math.ceil((Date.now() + run.timeoutMs) / 1000) + OVERTIME_SECONDS),
  };
  let made = false;
  try {
    const exec = await engine.ask(
      (docker, abortSignal) =>
        docker.getContainer(run.box).exec({
          Cmd: ['/bin/sh', '-c', RUNNER, 'sandbox', nonce, mark, tenths, request.command],
          Env: [mark, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
          WorkingDir: run.cwd,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
          abortSignal,
        }),
      BEGIN_MS,
    );
    made = true;
    const stream = await engine.ask(
      (_docker, abortSignal) =>
        exec.start({ hijack: false, stdin: false, Tty: false, Detach: false, abortSignal }),
      BEGIN_MS,
    );
    return stream as unknown as Readable;
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    // 404 and 409: the container does not exist, or does not run (any more).
    if (error.status === 404 || error.status === 409) throw new NotStarted(error.message);
    if (made) return error;
    throw error;
  }
}

type How = 'ended' | 'timeout' | 'cancelled' | 'lost';

/** `ended`: the runner has reported how it ended, or the stream is over. */
function ending(
  engine: Engine,
  stream: Readable,
  output: BoxOutput,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<How> {
  return new Promise((resolve) => {
    const settle = (how: How): void => {
      clearTimeout(timer);
      clearInterval(pings);
      signal.removeEventListener('abort', cancel);
      resolve(how);
    };
    const cancel = (): void => settle('cancelled');
    const timer = setTimeout(() => settle('timeout'), timeoutMs);
    let lastOutputAt = performance.now();
    const hear = (): void => {
      lastOutputAt = performance.now();
    };
    const pings = setInterval(() => {
      if (performance.now() - lastOutputAt > SILENCE_MS) return settle('lost');
      // Silence is measured since the last answer.
      engine.ask((docker) => docker.ping(), SILENCE_MS).then(hear, () => undefined);
    }, PING_MS);
    signal.addEventListener('abort', cancel, { once: true });
    stream.on('data', (chunk: Buffer) => {
      // An engine that is busy with output may answer late.
      hear();
      output.take(chunk);
      if (output.found) settle('ended');
    });
    stream.once('end', () => settle('ended'));
    // An engine that ends breaks the connection.
    stream.once('error', () => settle('lost'));
    stream.once('close', () => settle('ended'));
    // It may have been cancelled while it was being started.
    if (signal.aborted) cancel();
  });
}

async function whyLost(boxes: Boxes, box: string): Promise<string> {
  boxes.forget(box);
  const done = 'whatever it had done by then stays done';
  try {
    const { State } = await boxes.engine.ask(
      (docker, abortSignal) => docker.getContainer(box).inspect({ abortSignal }),
      WHY_MS,
    );
    if (State.Running)
      return `the sandbox could not go on with the command, for want of processes or memory; ${done}`;
    const memory = State.OOMKilled ? ', for want of memory' : '';
    return `the sandbox ended while the command ran${memory}; ${done}`;
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    if (error.status === 404) return `the sandbox was removed while the command ran; ${done}`;
    boxes.lost();
    return `${error.message}: it was lost while the command ran; ${done}`;
  }
}
