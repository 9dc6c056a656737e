/** R6: a folder or file that is swapped for a link while a tool works leads nowhere outside. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openFolder } from '#activities/workspace/open-folder.ts';
import { tool as listFiles } from '#activities/tools/fs/list-files.ts';
import { tool as readFileTool } from '#activities/tools/fs/read-file.ts';
import { tool as search } from '#activities/tools/fs/search.ts';
import { tool as writeFileTool } from '#activities/tools/fs/write-file.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { type Bench, temporaryFolder, toolBench } from '#test/support/tool-call.ts';

const ROUNDS = 300;

/** Turns `d` from a real folder to a link to `outside` and back, as fast as possible, in a process of its own. */
const FLIP = `
  const fs = require('node:fs');
  const [ws, outside] = process.argv.slice(1);
  process.chdir(ws);
  fs.mkdirSync('real/sub', { recursive: true }); fs.writeFileSync('real/sub/f.txt', 'harmless\\n');
  fs.symlinkSync(outside, 'evil');
  console.log('ready');
  for (;;) {
    fs.renameSync('real', 'd'); fs.renameSync('d', 'real');
    fs.renameSync('evil', 'd'); fs.renameSync('d', 'evil');
  }`;

async function arena(t: TestContext): Promise<{ bench: Bench; outside: string }> {
  let flip: ChildProcess | undefined;
  // This runs before the folders are removed, because the process would make them again.
  t.after(async () => {
    flip?.kill('SIGKILL');
    if (flip?.exitCode === null && flip.signalCode === null) await once(flip, 'exit');
  });
  const bench = await toolBench(t);
  const outside = join(bench.base, 'outside');
  await mkdir(join(outside, 'sub'), { recursive: true });
  await mkdir(bench.workspace);
  await writeFile(join(outside, 'sub/f.txt'), 'TOPSECRET\n');
  flip = spawn(process.execPath, ['-e', FLIP, bench.workspace, outside], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (flip.stdout) await once(flip.stdout, 'data');
  return { bench, outside };
}

describe('R6 races with a swapped folder', () => {
  test('reading, listing and searching never show what is outside', async (t) => {
    const { bench } = await arena(t);
    for (let round = 0; round < ROUNDS; round += 1) {
      const results = [
        await bench.run(readFileTool, { path: 'd/sub/f.txt' }),
        await bench.run(listFiles, { path: 'd/sub' }),
        ...(round % 10 === 0 ? [await bench.run(search, { path: '.', pattern: 'TOPSECRET|harmless' })] : []),
      ];
      for (const result of results) assert.doesNotMatch(JSON.stringify(result), /TOPSECRET/);
    }
  });

  test('writing never makes or changes a file outside', async (t) => {
    const { bench, outside } = await arena(t);
    for (let round = 0; round < ROUNDS; round += 1)
      await bench.run(writeFileTool, { path: `d/sub/new${round % 3}.txt`, content: 'mine' });
    assert.deepEqual(await readdir(join(outside, 'sub')), ['f.txt']);
    assert.equal(await readFile(join(outside, 'sub/f.txt'), 'utf8'), 'TOPSECRET\n');
  });

  test('a command never starts in a folder outside', async (t) => {
    const { bench } = await arena(t);
    let ran = 0;
    for (let round = 0; round < 100; round += 1) {
      const result = await bench.run(exec, { command: 'cat f.txt', working_dir: 'd/sub' });
      assert.doesNotMatch(JSON.stringify(result), /TOPSECRET/);
      if (result.ok) ran += 1;
    }
    assert.ok(ran > 0, 'some met the real folder');
  });
});

describe('R6 a held folder', () => {
  test('is refused when it is another one than was judged', async (t) => {
    const base = await temporaryFolder(t);
    await mkdir(join(base, 'ws'));
    await mkdir(join(base, 'outside/d'), { recursive: true });
    await symlink('../outside', join(base, 'ws/a'));
    // `a` counts as a folder, as if it had been one when it was judged.
    await assert.rejects(openFolder(join(base, 'ws/a/d'), 'a/d'), { code: 'InvalidPath' });
    await assert.rejects(openFolder(join(base, 'ws/a'), 'a'), { code: /ELOOP|ENOTDIR/ });
  });

  test('goes on meaning the same folder when its name is taken by a link', async (t) => {
    const base = await temporaryFolder(t);
    await mkdir(join(base, 'd'));
    await writeFile(join(base, 'd/f'), 'mine');
    const folder = await openFolder(join(base, 'd'), 'd');
    t.after(() => folder.close());
    await rm(join(base, 'd'), { recursive: true });
    await mkdir(join(base, 'other'));
    await writeFile(join(base, 'other/f'), 'theirs');
    await symlink('other', join(base, 'd'));
    await assert.rejects(readFile(folder.at('f')), { code: 'ENOENT' });
  });
});
