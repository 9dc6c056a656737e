/**
 * A program on the host that represents a background command in a container. It forwards input and output and exits
 * with the command's exit code. When it is ended, it ends the command in its container first. Its only argument is an
 * AttachedCommand in base64. As a separate process it outlives a turn like any background command.
 */
import { randomBytes } from 'node:crypto';
import { env } from 'node:process';
import type { Duplex } from 'node:stream';
import { marksOf } from '../marks.ts';
import { RUNNER } from './box-scripts.ts';
import { BOX_ENVIRONMENT } from './box-spec.ts';
import { type BoxOutput, createBoxOutput } from './box-output.ts';
import { endUntilClosed } from './end-call.ts';
import { createEngine, type Engine } from './engine.ts';
import { FIXED } from '../settings/settings.ts';

export interface AttachedCommand {
  /** Name that marks its processes (marks.ts). */
  readonly name: string;
  readonly dockerHost: string;
  readonly box: string;
  readonly cwd: string;
  readonly command: string;
  /** Names of its own environment variables that the command gets. */
  readonly variables: readonly string[];
}

/** The caller waits longer than this before it sends SIGKILL (boxed-shell.ts). */
const GRACE_MS = 1_500;
const DRAIN_MS = 300;
/** A shell's exit code for a command that it could not run to its end. */
const LOST = 125;

async function attach({ dockerHost, name, ...run }: AttachedCommand): Promise<number> {
  const engine = createEngine(dockerHost);
  const nonce = randomBytes(8).toString('hex');
  const mark = `${marksOf(name).process}=${nonce}`;
  // A signal that arrives while the command is being started ends it after the start.
  const request = Promise.withResolvers<void>();
  let isRequested = false;
  const ask = (): void => {
    isRequested = true;
    request.resolve();
  };
  // The signal arrives more than once: for the process group and for each process.
  process.on('SIGTERM', ask);
  process.on('SIGINT', ask);
  const stream = await begin(engine, { ...run, nonce, mark });
  const output = createBoxOutput(nonce, (fd, chunk) => {
    const to = fd === 2 ? process.stderr : process.stdout;
    // A reader that is slower than the command blocks it.
    if (to.write(chunk)) return;
    stream.pause();
    to.once('drain', () => stream.resume());
  });
  const ended = request.promise.then(() => endUntilClosed(engine, run.box, mark, GRACE_MS, stream));
  await Promise.race([passOn(stream, output), ended]);
  // The streams are over before everything has ended.
  if (isRequested) await ended;
  output.flush();
  if (output.found) return output.found.code;
  if (!isRequested) process.stderr.write('the sandbox ended, or its engine, while the command ran\n');
  return LOST;
}

async function begin(
  engine: Engine,
  run: Omit<AttachedCommand, 'dockerHost' | 'name'> & { readonly nonce: string; readonly mark: string },
): Promise<Duplex> {
  const own = Object.fromEntries(run.variables.map((name) => [name, env[name] ?? '']));
  const environment = { ...BOX_ENVIRONMENT, ...FIXED, PWD: run.cwd, ...own };
  const exec = await engine.ask((docker, abortSignal) =>
    docker.getContainer(run.box).exec({
      Cmd: ['/bin/sh', '-c', RUNNER, 'sandbox', run.nonce, run.mark, '15', run.command],
      Env: [run.mark, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
      WorkingDir: run.cwd,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      abortSignal,
    }),
  );
  return engine.ask((_docker, abortSignal) =>
    exec.start({ hijack: true, stdin: true, Tty: false, Detach: false, abortSignal }),
  );
}

/** Resolves when the command's streams are over. */
function passOn(stream: Duplex, output: BoxOutput): Promise<void> {
  process.stdin.pipe(stream);
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      output.take(chunk);
      // Its trailer may come before the last of its output.
      if (output.found) setTimeout(resolve, DRAIN_MS);
    });
    stream.once('end', resolve);
    stream.once('close', resolve);
    // The caller recognizes this by the missing trailer.
    stream.once('error', () => resolve());
  });
}

const [encoded = ''] = process.argv.slice(2);
const code = await attach(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as AttachedCommand);
// Input may still be open, and output must be flushed.
process.stdout.write('', () => process.exit(code));
