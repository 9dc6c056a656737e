/** list_files: lists immediate children, sorted, with sizes, within limits. */
import assert from 'node:assert/strict';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/fs/list-files.ts';
import { toolBench } from '#test/support/tool-call.ts';

describe('TL list_files', () => {
  test('lists sorted immediate children with sizes, under either name', async (t) => {
    const bench = await toolBench(t);
    await mkdir(join(bench.workspace, 'sub/deep'), { recursive: true });
    await writeFile(join(bench.workspace, 'b.txt'), 'four');
    await writeFile(join(bench.workspace, 'B\nx'), '');
    await symlink('/etc', join(bench.workspace, 'a-link'));
    await link(join(bench.workspace, 'b.txt'), join(bench.workspace, 'hard'));
    const text = 'B\ufffdx (0 bytes)\na-link (symbolic link)\nb.txt (4 bytes)\nhard (4 bytes)\nsub/';
    assert.deepEqual(await bench.run(tool, {}), { ok: true, text });
    assert.deepEqual(await bench.run(tool, { path: '.' }, { calledAs: 'list_directory' }), {
      ok: true,
      text,
    });
    assert.deepEqual(await bench.run(tool, { path: 'sub' }), { ok: true, text: 'deep/' });
    assert.deepEqual(await bench.run(tool, { path: 'sub/deep' }), {
      ok: true,
      text: '(the folder is empty)',
    });
  });

  test('says how many are left out of a long list', async (t) => {
    const bench = await toolBench(t);
    await mkdir(bench.workspace);
    for (let index = 0; index < 1_005; index += 1) await writeFile(join(bench.workspace, `f${index}`), '');
    const result = await bench.run(tool, {});
    assert.match(result.ok ? result.text : '', /\[5 more; use glob/);
  });

  test('a file and a missing folder are errors of their own', async (t) => {
    const bench = await toolBench(t);
    await mkdir(bench.workspace);
    await writeFile(join(bench.workspace, 'f'), '');
    const codes = [];
    for (const path of ['f', 'none']) {
      const result = await bench.run(tool, { path });
      codes.push(!result.ok && result.code);
    }
    assert.deepEqual(codes, ['InvalidPath', 'FileNotFound']);
  });
});
