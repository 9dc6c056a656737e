/** write_file: writes whole files or appends to them, creates parent folders, and is safe to repeat (DU-2). */
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/fs/write-file.ts';
import { toolBench, toolCall } from '#test/support/tool-call.ts';

describe('TL write_file', () => {
  test('makes folders, and replaces what was there', async (t) => {
    const bench = await toolBench(t);
    assert.deepEqual(await bench.run(tool, { path: 'a/b/c.txt', content: 'né' }), {
      ok: true,
      text: 'File created: a/b/c.txt (3 bytes)',
    });
    const again = await bench.run(tool, { path: 'a/b/c.txt', content: '' });
    assert.equal(again.ok && again.text, 'File written: a/b/c.txt (0 bytes)');
    assert.equal(await readFile(join(bench.workspace, 'a/b/c.txt'), 'utf8'), '');
  });

  test('appends, and not twice when the same call is run again', async (t) => {
    const bench = await toolBench(t);
    const args = { path: 'log.txt', content: 'line\n', append: true };
    await bench.run(tool, args, { idempotencyKey: 'k1' });
    await bench.run(tool, args, { idempotencyKey: 'k1' });
    await bench.run(tool, args, { idempotencyKey: 'k2' });
    assert.equal(await readFile(join(bench.workspace, 'log.txt'), 'utf8'), 'line\nline\n');
  });

  test('DU-2 its probe tells a written file and an appended line from those that were not', async (t) => {
    const { probe } = tool;
    assert.ok(probe);
    const bench = await toolBench(t);
    const call = toolCall(bench.workspace, { idempotencyKey: 'k1' });
    const request = { path: 'a.txt', content: 'one', append: false };
    assert.equal(await probe(bench.deps, request, call), undefined);
    await bench.run(tool, request);
    assert.deepEqual(await probe(bench.deps, request, call), {
      ok: true,
      text: 'File written: a.txt (by an earlier attempt of this call)',
    });
    const more = { ...request, content: 'two', append: true };
    assert.equal(await probe(bench.deps, more, call), undefined);
    await bench.run(tool, more, { idempotencyKey: 'k1' });
    assert.equal((await probe(bench.deps, more, call))?.ok, true);
    await bench.run(tool, { path: 'a.txt', content: 'other' });
    const lost = await probe(bench.deps, more, call);
    assert.equal(lost && !lost.ok && lost.code, 'OutcomeUnknown');
  });

  test('writes through a link that stays inside', async (t) => {
    const bench = await toolBench(t);
    await mkdir(join(bench.workspace, 'real'), { recursive: true });
    await symlink('real', join(bench.workspace, 'link'));
    await bench.run(tool, { path: 'link/a.txt', content: 'x' });
    assert.equal(await readFile(join(bench.workspace, 'real/a.txt'), 'utf8'), 'x');
  });

  test('a folder, a file in the way and the denied prefix are refused', async (t) => {
    const bench = await toolBench(t);
    await bench.run(tool, { path: 'file', content: 'x' });
    await mkdir(join(bench.workspace, 'folder'));
    for (const [path, code] of [
      ['folder', 'InvalidPath'],
      ['.', 'InvalidPath'],
      ['file/x', 'FileNotFound'],
      ['.tempoclaw/x', 'PermissionDenied'],
    ] as const) {
      for (const append of [false, true]) {
        const result = await bench.run(tool, { path, content: 'y', append });
        assert.equal(!result.ok && result.code, code, `${path} ${JSON.stringify(result)}`);
      }
    }
  });
});
