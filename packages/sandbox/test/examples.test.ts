/** Runs the code of the README, and the example that it names. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { hasWall, temporaryFolder } from './support/folders.ts';

async function node(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, { cwd: fileURLToPath(new URL('..', import.meta.url)) });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}

describe('the example', { skip: hasWall() ? false : 'this kernel has no Landlock' }, () => {
  test('runs a command that writes in its folder alone and sees no other', async (t) => {
    const base = await temporaryFolder(t);
    for (const name of ['ann', 'ben']) await mkdir(join(base, 'workspaces', name), { recursive: true });
    await writeFile(join(base, 'workspaces', 'ben', 'notes'), 'of ben');
    const command = 'echo mine >file; cat file; (setsid sleep 60 &); cat ../ben/notes';
    const { stdout, stderr } = await node(
      'examples/run-command.ts',
      join(base, 'workspaces', 'ann'),
      command,
    );
    const lines = ['wall: files and network', 'mine', 'ended: exit, exit code 1, 1 processes left running'];
    assert.deepEqual(stdout.trimEnd().split('\n'), lines, stderr);
    assert.match(stderr, /Permission denied/);
  });
});

describe('the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];

  test('says what its example returns', async () => {
    // Each expression with the value in the comment below it.
    const claim = /^(?!import|const)(.+);\n\/\/ (.+)$/gm;
    assert.equal([...code.matchAll(claim)].length, 4);
    const checks = code.replaceAll(
      claim,
      (_, expression: string, value: string) => `assert.deepEqual(${expression}, ${value});`,
    );
    const program = `import assert from 'node:assert/strict';\n${checks}`;
    const { stderr } = await node('--input-type=module-typescript', '--eval', program);
    assert.equal(stderr, '');
  });
});
