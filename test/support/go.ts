/** Programs in Go, as readers of the docs build them. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#config';

const run = promisify(execFile);
const SDK = 'v1.35.0';
/** Compiling the SDK the first time takes a minute or two. */
const BUILD_MS = 400_000;

/** Why there is no Go on this machine, or false. */
export function whyNoGo(): Promise<string | false> {
  return go(tmpdir(), 'version').then(
    () => false as const,
    (error: Error) => `no Go: ${error.message}`,
  );
}

/** Builds the program `./program` in a folder, of files by name that are one package, with Temporal's SDK. */
export async function buildGo(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(
    join(folder, 'go.mod'),
    `module program\n\ngo 1.24.0\n\nrequire go.temporal.io/sdk ${SDK}\n`,
  );
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await go(folder, 'mod', 'tidy');
  await go(folder, 'vet', '.');
  await go(folder, 'build', '-o', 'program', '.');
}

function go(cwd: string, ...args: string[]): Promise<unknown> {
  const env = childEnvironment({ GOFLAGS: '-mod=mod', GOWORK: 'off' });
  return run('go', args, { cwd, env, timeout: BUILD_MS });
}
