/** docs/features.md: following its steps on a fresh copy makes a feature that works. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { childEnvironment } from '#config';
import { notesFeature, readPage, ROOT } from '#test/docs/pages.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const LINES = /^\*\*9\..*?^```ts\n(import [^\n]+)\n([^\n]+)\n```$/ms;

test('the steps of docs/features.md make a feature', { timeout: 600_000 }, async (t) => {
  const page = readPage('docs/features.md');
  const copy = join(await temporaryFolder(t), 'copy');
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  for (const file of tracked.filter((one) => one !== '' && !one.startsWith('docs/images/')))
    await cp(join(ROOT, file), join(copy, file), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

  const files = notesFeature();
  assert.equal(files.length, 7, 'and one line outside');
  for (const [path, text] of files) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
  }
  const [, imported = '', listed = ''] = LINES.exec(page) ?? assert.fail('the lines of step 9');
  const list = join(copy, 'features/index.ts');
  const before = await readFile(list, 'utf8');
  await writeFile(list, before.replace(/(?=\nexport )/, `${imported}\n`).replace(/(?=\n\];)/, `\n${listed}`));

  const { PATH, HOME } = childEnvironment({});
  const run = (command: string, ...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: copy,
      encoding: 'utf8',
      env: { PATH, HOME, XDG_CACHE_HOME: join(copy, '.cache') },
    });
    assert.equal(status, 0, `${command} ${args.join(' ')}:\n${stdout}${stderr}`);
    return stdout;
  };
  run('npx', 'tsc', '--noEmit', '-p', '.');
  run('npx', 'node', 'scripts/generate-tools-doc.ts', '--write');
  assert.match(await readFile(join(copy, 'docs/tools.md'), 'utf8'), /note.*Take a short note/s);
  assert.match(run('npm', 'test', '--', 'features/notes/test'), /1 tests: 1 passed, 0 failed/);
  assert.match(run('npx', 'node', 'bin/tempoclaw.js', '--help'), /notes +notes that agents have taken/);
});
