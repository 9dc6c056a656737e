/** `tempoclaw tools serve` as a program, for tests that call its tools and kill it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '#test/support/processes.ts';
import type { Stack } from '#test/support/stack.ts';

export interface ToolHost {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  output(): string;
}

/** Serves `folder` under the name `host` until it takes calls. Its tools find the file `log` of the folder in WITNESS. */
export async function startToolHost(
  { url, key }: Pick<Stack, 'url' | 'key'>,
  folder: string,
  host: string,
): Promise<ToolHost> {
  const args = ['bin/tempoclaw.js', 'tools', 'serve', folder, '--host', host, '--url', url];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TEMPOCLAW_API_KEY: key,
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'],
      WITNESS: join(folder, 'log'),
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  await eventually(() => output.includes('Ctrl-C ends it') || child.exitCode !== null);
  assert.ok(output.includes('Ctrl-C ends it') && child.exitCode === null, output);
  return { child, output: () => output };
}
