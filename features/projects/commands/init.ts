/** Implements `tempoclaw init`: a folder with an agent, a skill and a tool to begin with. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { CliError } from '#cli/cli-error.ts';
import { createOutput } from '#cli/output.ts';
import { hostNameOf } from '#features/code-tools/index.ts';
import { templateOf } from '../template.ts';

export function register(init: Command): void {
  init.argument('<folder>', 'a new folder, or an empty one').action(run);
}

function run(folder: string): void {
  const path = resolve(folder);
  let names: readonly string[];
  try {
    names = makeFiles(path);
  } catch (error) {
    // A file of that name, or no right to write there.
    const isOfSystem = error instanceof Error && 'syscall' in error;
    if (!isOfSystem) throw error;
    throw new CliError(`${path} cannot be made: ${error.message}`, {
      code: 'NotMade',
      remedy: 'Name a new folder, where you may write.',
    });
  }
  const out = createOutput(process.stdout);
  for (const name of names) out.line(`+ ${join(folder, name)}`);
  out.line(`Next: npx tempoclaw dev ${folder}`);
}

/** Returns the names of the files. @throws CliError when there are others */
function makeFiles(path: string): readonly string[] {
  const found = existsSync(path) ? readdirSync(path).filter((name) => name !== '.git') : [];
  if (found.length > 0)
    throw new CliError(`${path} is not empty: it has ${found.slice(0, 3).join(', ')}.`, {
      code: 'NotEmpty',
      remedy: 'Name a new folder.',
    });
  const files = templateOf(hostNameOf(path));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return Object.keys(files);
}
