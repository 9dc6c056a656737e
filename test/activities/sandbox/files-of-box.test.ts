/** VF-3, VF-4, SH-3: file tools and a box work on the same files, and nothing planted in the box leads out of them. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test as plainTest } from 'node:test';
import { tool as edit } from '#activities/tools/fs/edit.ts';
import { tool as glob } from '#activities/tools/fs/glob.ts';
import { tool as listFiles } from '#activities/tools/fs/list-files.ts';
import { tool as readFileTool } from '#activities/tools/fs/read-file.ts';
import { tool as search } from '#activities/tools/fs/search.ts';
import { tool as writeFileTool } from '#activities/tools/fs/write-file.ts';
import { tool as workspaceDir } from '#activities/tools/other/workspace-dir.ts';
import { tool as exec } from '#activities/tools/runtime/exec.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import type { ToolResult } from '#domain/tool.ts';
import { engineTests, findEngine, testBoxes } from '#test/support/container-engine.ts';
import { toolBench } from '#test/support/tool-call.ts';

const { test, stop } = engineTests(await findEngine());
after(stop);

const sandbox = sandboxOf({ mode: 'required' }, undefined);
assert.ok(sandbox);
const boxed = { sandbox, mount: '/workspace' };

function words(result: ToolResult): string {
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

describe('SH-3 file tools of an agent in a box', () => {
  test('answer as they do on the host, for files that either made', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const sh = async (command: string): Promise<string> => words(await bench.run(exec, { command }, boxed));
    await bench.run(writeFileTool, { path: 'src/a.txt', content: 'one\ntwo\n' }, boxed);
    assert.equal(
      await sh('cat src/a.txt; echo three >>src/a.txt; mkdir made; echo here >made/b.txt'),
      'one\ntwo',
    );
    const same: readonly (readonly [typeof edit, Record<string, unknown>])[] = [
      [readFileTool, { path: 'src/a.txt' }],
      [listFiles, { path: '.' }],
      [search, { pattern: 'here' }],
      [glob, { pattern: '**/*.txt' }],
      [edit, { path: 'made/b.txt', old_string: 'here', new_string: 'there' }],
      [readFileTool, { path: 'nowhere.txt' }],
    ];
    for (const [tool, args] of same) {
      const onHost = await bench.run(tool, args, {});
      if (tool === edit) await bench.run(edit, { ...args, old_string: 'there', new_string: 'here' }, {});
      assert.deepEqual(await bench.run(tool, args, boxed), onHost, tool.name);
    }
    assert.equal(
      await sh('cat made/b.txt && echo own >>made/b.txt && echo own >src/new && echo done'),
      'there\ndone',
    );
  });

  test('say and understand /workspace, also in links that were made in the box', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    assert.equal(words(await bench.run(workspaceDir, {}, boxed)), '/workspace');
    await bench.run(writeFileTool, { path: '/workspace/deep/in/it.txt', content: 'found' }, boxed);
    await bench.run(
      exec,
      { command: 'ln -s /workspace/deep/in/it.txt link; ln -s /workspace/deep folder' },
      boxed,
    );
    for (const path of ['/workspace/deep/in/it.txt', 'link', '/workspace/link', 'folder/in/it.txt'])
      assert.match(words(await bench.run(readFileTool, { path }, boxed)), /found/, path);
    const result = await bench.run(exec, { command: 'pwd', working_dir: '/workspace/deep' }, boxed);
    assert.equal(words(result), '/workspace/deep');
    assert.match(
      words(await bench.run(readFileTool, { path: '/workspace/deep/in/it.txt' }, {})),
      /^InvalidPath/,
    );
  });

  test('follow no link out of the workspace, however it was made', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    await writeFile(join(bench.base, 'outside.txt'), 'of the host');
    const plant = [
      'ln -s /etc/passwd passwd',
      'ln -s / root',
      'ln -s ../outside.txt up',
      'ln -s /workspace/../outside.txt around',
      `ln -s ${bench.base}/outside.txt named`,
      'ln -s /proc/self/cwd/../outside.txt proc',
      'mkfifo pipe',
    ];
    await bench.run(exec, { command: plant.join('; ') }, boxed);
    const out = [
      'passwd',
      'root/etc/passwd',
      'up',
      'around',
      'named',
      'proc',
      '/workspace/../outside.txt',
      'pipe',
    ];
    for (const path of out) {
      assert.match(
        words(await bench.run(readFileTool, { path }, boxed)),
        /^(InvalidPath|FileNotFound)/,
        path,
      );
      const wrote = await bench.run(writeFileTool, { path, content: 'x' }, boxed);
      assert.match(words(wrote), /^(InvalidPath|PermissionDenied)/, path);
    }
    assert.equal(await readFile(join(bench.base, 'outside.txt'), 'utf8'), 'of the host');
  });

  test('are not led out by a box that swaps a folder for a link all the time', async (t, engine) => {
    const bench = await toolBench(t, { boxes: testBoxes(t, engine.address) });
    const outside = join(bench.base, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'file.txt'), 'of the host');
    const stopping = new AbortController();
    const swap = `mkdir -p real; echo ours >real/file.txt; ln -s ${outside} link
      while :; do mv -T real way; mv -T way real; mv -T link way; mv -T way link; done`;
    const swapping = bench.run(exec, { command: swap }, { ...boxed, signal: stopping.signal });
    for (let tries = 0; tries < 300; tries += 1) {
      const read = words(await bench.run(readFileTool, { path: 'way/file.txt' }, boxed));
      assert.doesNotMatch(read, /of the host/);
      await bench.run(writeFileTool, { path: 'way/new.txt', content: 'x' }, boxed);
    }
    stopping.abort();
    await swapping;
    await assert.rejects(readFile(join(outside, 'new.txt')), { code: 'ENOENT' });
  });
});

describe('VF-4 paths below the mount, without a box', () => {
  plainTest('are the workspace’s, and a real folder of that name is not', async (t) => {
    const bench = await toolBench(t);
    await mkdir(bench.workspace, { recursive: true });
    await writeFile(join(bench.workspace, 'a.txt'), 'inside');
    const scope = { workspace: bench.workspace, idempotencyKey: 'k', mount: '/workspace' };
    const read = async (path: string) =>
      (await bench.files.readPage(scope, path, { offset: 0, maxChars: 99 })).text;
    assert.equal(await read('/workspace/a.txt'), 'inside');
    assert.equal(await read(join(bench.workspace, 'a.txt')), 'inside');
    for (const path of [
      '/workspaces/a.txt',
      '/workspace/../a.txt',
      '/workspace/../../etc/passwd',
      '/etc/passwd',
    ])
      await assert.rejects(read(path), { code: 'InvalidPath' }, path);
    await symlink('/workspace/a.txt', join(bench.workspace, 'link'));
    assert.equal(await read('link'), 'inside');
    await rm(join(bench.workspace, 'link'));
  });
});
