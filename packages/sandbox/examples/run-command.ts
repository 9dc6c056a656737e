/**
 * Runs somebody else's command in a folder: `node examples/run-command.ts FOLDER COMMAND`. Where it is confined, it
 * writes only there and sees no folder beside it. After 10 seconds it is ended with everything it started.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { createShell, ownIdentity, proveWall } from '@tempoclaw/sandbox';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';

const [name = '.', command = 'ls'] = process.argv.slice(2);
const folder = resolve(name);
const stateDir = await mkdtemp(join(tmpdir(), 'run-command-'));
const { host, why } = await proveWall({
  stateDir,
  workspaceRoot: dirname(folder),
  secretFiles: [],
  commandFolders: [],
  program: fileURLToPath(new URL('..', import.meta.url)),
  ports: [],
  bounds: {
    name: 'example',
    processes: 100,
    memory: 2 ** 30,
    disk: 2 ** 30,
    settings: { processes: 'the example', memory: 'the example', disk: 'the example' },
  },
});
console.log(`wall: ${host.wall}${why === undefined ? '' : ` (${why})`}`);

const shell = createShell({
  name: 'example',
  environment: commandEnvironment(env),
  worker: ownIdentity(),
  wall: host,
});
const { ended, exitCode, stdout, stderr, leftovers } = await shell.run({
  command,
  cwd: folder,
  pwd: folder,
  folders: [folder],
  timeoutMs: 10_000,
  callId: 'example',
  signal: new AbortController().signal,
});
console.log(stdout.trimEnd());
console.error(stderr.trimEnd());
console.log(`ended: ${ended}, exit code ${exitCode}, ${leftovers} processes left running`);
host.close();
await rm(stateDir, { recursive: true, force: true });
