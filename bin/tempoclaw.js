#!/usr/bin/env node
// Starts the command line on a Node that runs TypeScript as it is: where an older one is installed, the one
// that npm has installed beside it takes over (an optional package for each platform). Plain JavaScript, so that Node 20 can read it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

// 22.18 is the first release that strips types without a flag.
if (major > 22 || (major === 22 && minor >= 18)) {
  // Stripping the types of some hundred files takes longer than most commands. What the folder contains is executed, so
  // it is not Node's own, which all users of a machine share.
  modules.enableCompileCache(join(homedir(), '.cache', 'tempoclaw', 'compiled'));
  await import('../cli/main.ts');
} else {
  const own = findOwnNode();
  if (own === undefined) {
    console.error(
      `TempoClaw needs Node 22.18 or later to run; this is ${process.version}, and npm has installed no newer one for ${process.platform} on ${process.arch}.\n` +
        'Install a newer Node, or run `npm install` again with optional packages (without --omit=optional).',
    );
    process.exit(1);
  }
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C on a terminal reaches the child by itself; what is sent to this process alone is passed on.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    console.error(`${own} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)));
}

function findOwnNode() {
  try {
    const system = { win32: 'win' }[process.platform] ?? process.platform;
    const prefix = system === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
    const own = `${prefix}-${system}-${process.arch}/package.json`;
    const folder = dirname(modules.createRequire(import.meta.url).resolve(own));
    const file = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
