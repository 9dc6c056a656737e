/** Builds the web console for a clone, where its files are missing or older than its sources. */
import { spawn } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { childEnvironment } from '#config';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A small part of this is usual. */
const TIMEOUT_MS = 60_000;
/** Enough for the reason of a failure. */
const MAX_OUTPUT = 20_000;

/** Resolves with what became of it, and never throws: everything else works without the console. */
export async function buildConsole(root = ROOT): Promise<string> {
  if (isBuilt(root)) return 'up to date';
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  // An installation for production leaves the builder out.
  if (!existsSync(vite))
    return 'not built: run `npm install` with its development packages, then start again';
  const problem = await run(vite, root);
  return problem === undefined ? 'built' : `not built: ${problem}; \`npm run build:console\` says more`;
}

function isBuilt(root: string): boolean {
  const built = statSync(join(root, 'console/dist/index.html'), { throwIfNoEntry: false });
  if (!built) return false;
  const sources = globSync(['console/*.*', 'console/src/**/*', 'package-lock.json'], { cwd: root });
  return sources.every((file) => statSync(join(root, file)).mtimeMs <= built.mtimeMs);
}

/** Resolves with the problem; undefined when there is none. */
function run(vite: string, root: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [vite, 'build', 'console', '--configLoader', 'native', '--logLevel', 'error'],
      {
        cwd: root,
        env: childEnvironment({}),
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: TIMEOUT_MS,
      },
    );
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(0, MAX_OUTPUT);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) =>
      resolve(code === 0 ? undefined : (reasonIn(output) ?? `it ended with ${code}`)),
    );
  });
}

/** Lines that only say that something is wrong. */
const HEADINGS = /^$|build failed|error during build|^\[plugin [\w-]+\]$/i;

function reasonIn(output: string): string | undefined {
  return stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim())
    .find((line) => !HEADINGS.test(line));
}
