/**
 * Starts the program that runs tools written in Python, and reads what it says (python/tempoclaw/host.py). It ends with
 * this process, in whatever way this one ends.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { CliError } from '#cli/cli-error.ts';
import { childEnvironment } from '#config';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { type CodeToolDefinition, codeToolSchema } from '../schema.ts';

export interface PythonTools {
  readonly definitions: readonly CodeToolDefinition[];
  /** Texts for people; each begins with the file, and its line where that is known. */
  readonly problems: readonly string[];
}

export interface PythonTarget {
  readonly queues: { readonly runs: string; readonly probes: string };
  /** Base64. */
  readonly seal_key: string;
  readonly temporal: object;
}

export interface PythonProgram {
  /** The tools as this process has loaded them. @throws CliError when there is no Python, or no package of this version */
  readTools(): Promise<PythonTools>;
  /** Called once, after `readTools`. Resolves when it takes calls. @throws CliError when it ends before */
  serve(target: PythonTarget): Promise<void>;
  readonly ended: Promise<void>;
  /** What runs may end first; resolves when it has ended. */
  end(): Promise<void>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The source of the package, which is of the same version as this program. */
const PACKAGE = fileURLToPath(new URL('../../../python', import.meta.url));
/** Of python/tempoclaw/load.py: what may be beside tools. */
const BESIDE = /^(?:_.*|test_.*|.*_test|conftest)\.py$/;
const LOAD_MS = 60_000;
/** Characters of its errors. */
const MAX_ERRORS = 20_000;

export function hasPythonTools(folder: string): boolean {
  const dir = join(folder, 'tools');
  return existsSync(dir) && readdirSync(dir).some((name) => name.endsWith('.py') && !BESIDE.test(name));
}

/** The one of the folder's virtual environment, where it has one. */
function pythonOf(folder: string): string {
  const names = ['.venv/bin/python', '.venv/Scripts/python.exe'];
  return names.map((name) => resolve(folder, name)).find((path) => existsSync(path)) ?? 'python3';
}

/** Runs a module of the package. Secrets go by its input, because everyone can see arguments. */
export function spawnPython(folder: string, module: 'host' | 'trial', args: readonly string[] = []): Child {
  return spawn(pythonOf(folder), ['-m', `tempoclaw.${module}`, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: childEnvironment({
      // Files of the working folder must not take the place of the package's.
      PYTHONSAFEPATH: '1',
      // Those who follow changes of the folder would see them.
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUTF8: '1',
    }),
  });
}

/** `describe` ends when it has said its tools. */
export function startPython(folder: string, mode: 'describe' | 'serve'): PythonProgram {
  const child = spawnPython(folder, 'host', [mode, resolve(folder)]);
  let errors = '';
  let isLoaded = false;
  child.stderr.on('data', (data: Buffer) => {
    if (isLoaded) process.stderr.write(data);
    else errors = `${errors}${data.toString()}`.slice(-MAX_ERRORS);
  });
  // It has ended, which `ended` says.
  child.stdin.on('error', () => undefined);
  const failed = new Promise<undefined>((done) => {
    child.once('error', (error) => {
      errors ||= error.message;
      done(undefined);
    });
  });
  const exited = new Promise<void>((done) => void child.once('exit', () => done()));
  const ended = Promise.race([exited, failed]);
  const closed = new Promise<void>((done) => void child.once('close', () => done()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string | undefined> => {
    const next = await Promise.race([lines.next(), failed]);
    return next === undefined || next.done === true ? undefined : next.value;
  };
  return {
    ended,
    async readTools() {
      const line = await withTimeout(LOAD_MS, nextLine());
      if (line === undefined) {
        child.kill('SIGKILL');
        // What it has written before its end may not be read yet.
        await withTimeout(1_000, Promise.race([closed, failed]));
        throw startProblem(folder, errors);
      }
      isLoaded = true;
      if (errors !== '') process.stderr.write(errors);
      return toolsOf(folder, line);
    },
    async serve(target) {
      child.stdin.write(`${JSON.stringify(target)}\n`);
      if ((await nextLine()) === undefined)
        throw new CliError('The process of the Python tools has ended.', { code: 'NotStarted' });
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}

const DESCRIPTION = z.object({
  version: z.string(),
  tools: z.array(z.object({ file: z.string(), definition: z.unknown() })),
  problems: z.array(z.string()),
});

function toolsOf(folder: string, line: string): PythonTools {
  const { version, tools, problems } = DESCRIPTION.parse(JSON.parse(line));
  if (version !== manifest.version)
    throw new CliError(
      `The Python package tempoclaw has the version ${version}; ${manifest.version} is needed.`,
      { code: 'InvalidTools', remedy: installation(folder) },
    );
  const parsed = tools.map(({ file, definition }) => ({ file, ...codeToolSchema.safeParse(definition) }));
  return {
    definitions: parsed.flatMap(({ data }) => data ?? []),
    problems: [
      ...problems,
      ...parsed.flatMap(({ file, error }) => (error ? `${file}: ${schemaProblem(error, 'the tool')}` : [])),
    ],
  };
}

/** Why it said nothing. */
function startProblem(folder: string, errors: string): CliError {
  const python = pythonOf(folder);
  const missing = /No module named '?(?<name>[\w.]+)/.exec(errors)?.groups?.['name'];
  const remedy = installation(folder);
  if (errors.includes('ENOENT'))
    return new CliError('The folder has tools in Python, and there is no python3.', {
      code: 'InvalidTools',
      remedy: `Install Python 3.10 or later. Then: ${remedy}`,
    });
  if (missing !== undefined)
    return new CliError(`The folder has tools in Python, and ${python} has no package ${missing}.`, {
      code: 'InvalidTools',
      remedy,
    });
  return new CliError(`${python} cannot load the tools of ${folder}.\n${errors.trim()}`, {
    code: 'InvalidTools',
  });
}

function installation(folder: string): string {
  const venv = join(resolve(folder), '.venv');
  const python = pythonOf(folder);
  return python === 'python3'
    ? `python3 -m venv ${venv} && ${venv}/bin/pip install ${PACKAGE}`
    : `${python} -m pip install ${PACKAGE}`;
}
