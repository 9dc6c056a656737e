/** edit: GoClaw's texts (test/vectors/edit.json); other bytes stay unchanged; safe to repeat (DU-2). */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/fs/edit.ts';
import type { ToolResult } from '#domain/tool.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

interface Case {
  readonly name?: string;
  readonly tool?: string;
  readonly content?: string;
  readonly old?: string;
  readonly new?: string;
  readonly old_text?: string;
  readonly new_text?: string;
  readonly expect?: string;
  readonly error?: string;
  readonly error_type?: string;
  readonly error_contains?: string;
  readonly expect_text?: string;
  readonly file_missing?: true;
}

const VECTORS = JSON.parse(
  await readFile(new URL('../../../vectors/edit.json', import.meta.url), 'utf8'),
) as {
  cases: readonly Case[];
};

async function withFile(t: Parameters<typeof toolBench>[0], content: string | Buffer): Promise<Bench> {
  const bench = await toolBench(t);
  await mkdir(bench.workspace);
  await writeFile(join(bench.workspace, 'f.txt'), content);
  return bench;
}

describe('TL edit as upstream', () => {
  for (const [index, one] of VECTORS.cases.entries())
    test(`case ${index}: ${one.name ?? one.error ?? one.error_contains ?? one.expect}`, async (t) => {
      const content = one.content ?? 'a b c';
      const bench = await withFile(t, content);
      const clawft = one.old_text !== undefined;
      const args = clawft
        ? { old_text: one.old_text, new_text: one.new_text }
        : { old_string: one.old ?? 'b', new_string: one.new ?? 'X' };
      const path = one.file_missing ? 'none.txt' : 'f.txt';
      const result = await bench.run(tool, { path, ...args }, clawft ? { calledAs: 'edit_file' } : {});
      const after = await readFile(join(bench.workspace, 'f.txt'), 'utf8');
      const error = one.error ?? one.error_contains;
      if (error === undefined) succeeded(one, result, after);
      else {
        assert.ok(!result.ok && result.message.includes(error), JSON.stringify(result));
        if (one.error_type !== undefined) assert.equal(result.code, one.error_type);
        assert.equal(after, content);
      }
    });
});

function succeeded(one: Case, result: ToolResult, after: string): void {
  assert.equal(result.ok, true);
  if (one.expect_text !== undefined) assert.equal(result.ok && result.text, one.expect_text);
  if (one.expect !== undefined) assert.equal(after, one.expect);
}

describe('TL edit beyond upstream', () => {
  test('says in the words of the call that nothing would change', async (t) => {
    const bench = await withFile(t, 'abc');
    for (const [calledAs, old, other] of [
      ['edit', 'old_string', 'new_string'],
      ['edit_file', 'old_text', 'new_text'],
    ] as const) {
      const result = await bench.run(tool, { path: 'f.txt', [old]: 'b', [other]: 'b' }, { calledAs });
      assert.ok(!result.ok && result.message.startsWith(`${old} and ${other} are identical`));
    }
  });

  test('replaces every occurrence when asked to', async (t) => {
    const bench = await withFile(t, 'aaa b aaa');
    const result = await bench.run(tool, {
      path: 'f.txt',
      old_string: 'aa',
      new_string: 'X',
      replace_all: 'true',
    });
    assert.equal(result.ok && result.text, 'File edited: f.txt (2 replacement(s))');
    assert.equal(await readFile(join(bench.workspace, 'f.txt'), 'utf8'), 'Xa b Xa');
  });

  test('leaves bytes that are not UTF-8 as they are', async (t) => {
    const bench = await withFile(t, Buffer.from([0xff, 0x62, 0xfe, 0x00]));
    await bench.run(tool, { path: 'f.txt', old_string: 'b', new_string: 'é' });
    const bytes = await readFile(join(bench.workspace, 'f.txt'));
    assert.deepEqual([...bytes], [0xff, 0xc3, 0xa9, 0xfe, 0x00]);
  });

  test('is not done twice when the same call is run again', async (t) => {
    const bench = await withFile(t, 'a');
    const args = { path: 'f.txt', old_string: 'a', new_string: 'aa' };
    await bench.run(tool, args, { idempotencyKey: 'k' });
    const again = await bench.run(tool, args, { idempotencyKey: 'k' });
    assert.equal(again.ok && again.text, 'File edited: f.txt (by an earlier attempt of this call)');
    assert.equal(await readFile(join(bench.workspace, 'f.txt'), 'utf8'), 'aa');
  });

  test('a hint tells of line ends and of white space', async (t) => {
    const bench = await withFile(t, 'one\r\ntwo\r\n');
    const ends = await bench.run(tool, { path: 'f.txt', old_string: 'one\ntwo', new_string: 'x' });
    assert.match(ends.ok ? '' : ends.message, /^old_string not found in file: its lines end in CRLF/);
    const space = await bench.run(tool, { path: 'f.txt', old_string: '  one ', new_string: 'x' });
    assert.match(space.ok ? '' : space.message, /other white space/);
  });

  test('half of a surrogate pair is not found', async (t) => {
    const bench = await withFile(t, 'x 🙂 y');
    for (const old of ['\ud83d', '\ude42', ' \ud83d ']) {
      const result = await bench.run(tool, { path: 'f.txt', old_string: old, new_string: 'z' });
      assert.match(result.ok ? '' : result.message, /^old_string not found in file/);
    }
    assert.equal(await readFile(join(bench.workspace, 'f.txt'), 'utf8'), 'x 🙂 y');
  });

  test('what would be nothing or too much is refused', async (t) => {
    const bench = await withFile(t, 'ab'.repeat(100_000));
    const same = await bench.run(tool, { path: 'f.txt', old_string: 'a', new_string: 'a' });
    assert.equal(!same.ok && same.code, 'InvalidArgs');
    const huge = { path: 'f.txt', old_string: 'a', new_string: 'x'.repeat(1_000), replace_all: true };
    const result = await bench.run(tool, huge);
    assert.match(result.ok ? '' : result.message, /would have 100100000 bytes/);
    const empty = await bench.run(tool, { path: 'f.txt', old_string: '', new_string: 'x' });
    assert.equal(!empty.ok && empty.code, 'InvalidArgs');
  });
});
