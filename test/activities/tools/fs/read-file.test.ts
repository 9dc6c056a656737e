/** read_file: reads whole files or pages, numbered; a file that is no text is refused in words. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '#activities/tools/fs/read-file.ts';
import { IMAGE_BYTES } from '#domain/model/image.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import { pngOf } from '#test/support/image-bytes.ts';
import { type Bench, toolBench } from '#test/support/tool-call.ts';

async function withFile(t: Parameters<typeof toolBench>[0], content: string | Buffer): Promise<Bench> {
  const bench = await toolBench(t);
  await mkdir(bench.workspace);
  await writeFile(join(bench.workspace, 'f.txt'), content);
  return bench;
}

describe('TL read_file', () => {
  test('gives a text as it is', async (t) => {
    const bench = await withFile(t, 'one\r\ntwo\n');
    assert.deepEqual(await bench.run(tool, { path: 'f.txt' }), { ok: true, text: 'one\r\ntwo\n' });
  });

  test('shows an image; one that is too large is refused as no text', async (t) => {
    const png = pngOf(40, 30);
    const shown = await (await withFile(t, png)).run(tool, { path: 'f.txt' });
    assert.deepEqual(shown, { ok: true, text: 'f.txt is an image.', images: [png] });
    const large = await withFile(t, Buffer.concat([png, Buffer.alloc(IMAGE_BYTES)]));
    const read = await large.run(tool, { path: 'f.txt' });
    assert.match(read.ok ? '' : read.message, /is a binary file/);
  });

  test('gives the lines asked for and says where to read on', async (t) => {
    const bench = await withFile(t, 'a\nb\nc\nd');
    const page = await bench.run(tool, { path: 'f.txt', offset: '1', limit: 2 });
    assert.equal(page.ok && page.text, 'b\nc\n[lines 1 to 2 of 4, 7 bytes in all; read on with offset=3]');
    const last = await bench.run(tool, { path: 'f.txt', offset: 3 });
    assert.equal(last.ok && last.text, 'd');
  });

  test('numbers lines from 1 on request', async (t) => {
    const bench = await withFile(t, `${'x\n'.repeat(9)}y\n`);
    const result = await bench.run(tool, { path: 'f.txt', offset: 8, line_numbers: true });
    assert.equal(result.ok && result.text, ' 9\tx\n10\ty\n');
  });

  test('gives at most 50,000 characters, in whole lines', async (t) => {
    const bench = await withFile(t, 'nine long\n'.repeat(10_000));
    const result = await bench.run(tool, { path: 'f.txt' });
    assert.ok(result.ok);
    assert.match(
      result.text,
      /nine long\n\[lines 0 to 4999 of 10000, 100000 bytes in all; read on with offset=5000\]$/,
    );
    assert.ok(result.text.length < 50_200);
  });

  test('cuts a line that alone is longer and says how to see the rest', async (t) => {
    const bench = await withFile(t, 'x'.repeat(60_000));
    const result = await bench.run(tool, { path: 'f.txt' });
    assert.match(
      result.ok ? result.text : '',
      /\n\[line 0 is too long to be given at once and was cut after 50000 bytes; .*\(cut -b 50001-\).*offset=1\]$/,
    );
  });

  const wide = Array.from({ length: 2_000 }, (_, at) => `${at} ${'漢'.repeat(95)}\n`).join('');
  const narrow = 'a\n'.repeat(40_000);
  for (const [what, text, args] of [
    ['letters of several bytes', wide, {}],
    ['many short lines with their numbers', narrow, { line_numbers: true }],
  ] as const) {
    test(`EX-5 a page of ${what} is shown whole, so reading on as it says misses nothing`, async (t) => {
      const bench = await withFile(t, text);
      const read: string[] = [];
      for (let offset = 0, more = true; more; ) {
        const result = await bench.run(tool, { path: 'f.txt', offset, ...args });
        assert.ok(result.ok);
        assert.ok(Buffer.byteLength(result.text) <= MODEL_RESULT_BYTES);
        const next = /\n\[lines .*read on with offset=(\d+)\]$/.exec(result.text);
        read.push(next ? result.text.slice(0, next.index + 1) : result.text);
        more = next !== null;
        offset = Number(next?.[1]);
      }
      assert.ok(read.length > 1);
      assert.equal(read.join('').replaceAll(/^ *\d+\t/gm, ''), text);
    });
  }

  test('EX-5 a line of letters of several bytes is cut where it says', async (t) => {
    const line = '😀'.repeat(30_000);
    const result = await (await withFile(t, line)).run(tool, { path: 'f.txt' });
    assert.ok(result.ok);
    const [shown = '', note = ''] = result.text.split('\n');
    assert.ok(Buffer.byteLength(result.text) <= MODEL_RESULT_BYTES);
    const from = Number(/\(cut -b (\d+)-\)/.exec(note)?.[1]);
    assert.equal(
      shown +
        Buffer.from(line)
          .subarray(from - 1)
          .toString(),
      line,
    );
  });

  const refused: readonly (readonly [string, string | Buffer, Record<string, unknown>, string, RegExp])[] = [
    [
      'a missing file',
      '',
      { path: 'none' },
      'FileNotFound',
      /failed to read file none: there is no such file/,
    ],
    ['a binary file', Buffer.from([1, 0, 2]), {}, 'ExecutionFailed', /binary file \(3 bytes\)/],
    ['UTF-16', Buffer.from('\ufeffhi', 'utf16le'), {}, 'ExecutionFailed', /UTF-16.*iconv/],
    [
      'an offset past the end',
      'a\n',
      { offset: 5 },
      'InvalidArgs',
      /past the end of f.txt, which has 1 lines/,
    ],
    ['a folder', '', { path: '.' }, 'InvalidPath', /is a folder/],
    ['a path through a file', 'x', { path: 'f.txt/y' }, 'FileNotFound', /a part of the path is a file/],
    ['a name that is too long', 'x', { path: 'x'.repeat(300) }, 'InvalidPath', /name is too long/],
  ];
  for (const [name, content, args, code, message] of refused)
    test(`${name} is ${code}`, async (t) => {
      const bench = await withFile(t, content);
      const result = await bench.run(tool, { path: 'f.txt', ...args });
      assert.ok(!result.ok);
      assert.equal(result.code, code);
      assert.match(result.message, message);
      assert.ok(!result.message.includes(bench.base), 'the host’s own path is not told');
    });

  test('an empty file is said to be empty', async (t) => {
    const bench = await withFile(t, '');
    assert.deepEqual(await bench.run(tool, { path: 'f.txt' }), { ok: true, text: '(the file is empty)' });
  });
});
