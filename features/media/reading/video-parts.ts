/**
 * Extracts the sound of a film and pictures of it with ffmpeg. It is a process behind the wall, killed at its limit,
 * which reads only this file.
 */
import { constants } from 'node:fs';
import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_IMAGES } from '#domain/model/image.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { HOST_LIMITS, type Shell, makeWorkerFolder } from '@tempoclaw/sandbox';
import { FileProblem } from '#activities/workspace/file-problem.ts';

export interface FilmParts {
  readonly seconds: number;
  /** Absent for a silent film. */
  readonly sound?: Buffer;
  readonly frames: readonly { readonly at: number; readonly bytes: Buffer }[];
}

export interface FilmPartsDeps {
  readonly shell: Pick<Shell, 'run'>;
  /** The folders in which programs are searched for. */
  readonly folders: readonly string[];
  /** A private folder of ours on this machine. */
  readonly dir: string;
}

const INPUT = 'film';
const RUN_MS = 60_000;
/** Seconds of a film that are read. */
const MAX_SECONDS = 4 * 3_600;
const SOUND_BYTES = 20_000_000;
export const SOUND_TYPE = 'audio/x-m4a';
const LIMITED = ['-c', `${HOST_LIMITS}\nexec "$@"`, 'sh'];
/** With these options, no playlist in it leads to another file or address. */
const READ_ONLY_THIS = ['-nostdin', '-v', 'error', '-protocol_whitelist', 'file', '-threads', '1'];

/** Returns undefined if there is no ffmpeg. @throws FileProblem */
export async function extractVideoParts(
  deps: FilmPartsDeps,
  call: RunningCall,
  film: Buffer,
): Promise<FilmParts | undefined> {
  const program = await findFfmpeg(deps.folders);
  if (program === undefined) return undefined;
  const folder = makeWorkerFolder(deps.dir);
  try {
    await writeFile(join(folder, INPUT), film, { mode: 0o600 });
    const run = async (args: readonly string[]): Promise<string> => {
      const outcome = await deps.shell.run({
        command: {
          file: '/bin/sh',
          args: [...LIMITED, program, ...args],
          environment: { HOME: folder, TMPDIR: folder },
        },
        cwd: folder,
        pwd: folder,
        folders: [folder],
        timeoutMs: RUN_MS,
        callId: call.callId,
        signal: call.signal,
      });
      call.signal.throwIfAborted();
      if (outcome.ended === 'timeout')
        throw new FileProblem('Timeout', `the film could not be taken apart within ${RUN_MS / 1000} s`);
      return outcome.stderr;
    };
    // ffmpeg prints how long the film is, and an error because it has no output file.
    const array = /Duration: (\d+):(\d+):(\d+(?:\.\d+)?)/.exec(
      await run(['-nostdin', '-protocol_whitelist', 'file', '-i', INPUT]),
    );
    if (!array) throw new FileProblem('ExecutionFailed', 'it is no film that ffmpeg can read');
    const [hours, minutes, rest] = array.slice(1).map(Number) as [number, number, number];
    const seconds = Math.min(hours * 3_600 + minutes * 60 + rest, MAX_SECONDS);
    await run([
      ...READ_ONLY_THIS,
      '-t',
      String(seconds),
      '-i',
      INPUT,
      '-vn',
      '-ac',
      '1',
      '-ar',
      '16000',
      '-b:a',
      '32k',
      '-fs',
      String(SOUND_BYTES),
      'sound.m4a',
    ]);
    const times = Array.from({ length: MAX_IMAGES }, (_, index) => (seconds * (index + 0.5)) / MAX_IMAGES);
    for (const [index, at] of times.entries())
      await run([
        ...READ_ONLY_THIS,
        '-ss',
        at.toFixed(2),
        '-i',
        INPUT,
        '-frames:v',
        '1',
        '-vf',
        "scale='min(1024,iw)':-2",
        `${index}.jpg`,
      ]);
    const made = new Set(await readdir(folder));
    const read = async (name: string): Promise<Buffer[]> =>
      made.has(name) ? [await readFile(join(folder, name))] : [];
    const [sound] = await read('sound.m4a');
    const frames = await Promise.all(
      times.map(async (at, index) => (await read(`${index}.jpg`)).map((bytes) => ({ at, bytes }))),
    );
    return { seconds, ...(sound?.length ? { sound } : {}), frames: frames.flat() };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function findFfmpeg(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, 'ffmpeg');
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
