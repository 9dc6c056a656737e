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
  const out = createOutput(process.stdout);
  for (const name of Object.keys(files)) out.line(`+ ${join(folder, name)}`);
  out.line(`Next: npx tempoclaw dev ${folder}`);
}
