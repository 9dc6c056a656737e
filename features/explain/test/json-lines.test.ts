import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type JsonLine, readJsonLines } from '../commands/json-lines.ts';

async function* pieces(chunks: readonly (Buffer | string)[]): AsyncGenerator<Buffer | string> {
  yield* chunks;
}

async function readAll(chunks: readonly (Buffer | string)[]): Promise<JsonLine[]> {
  const lines: JsonLine[] = [];
  for await (const line of readJsonLines(pieces(chunks))) lines.push(line);
  return lines;
}

describe('IN-6 JSON lines', () => {
  test('are read whole however the input is cut, also within a character', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.integer({ min: 1, max: 7 }),
        async (values, size) => {
          const bytes = Buffer.from(values.map((value) => JSON.stringify(value)).join('\n'));
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
            bytes.subarray(at * size, (at + 1) * size),
          );
          const expected = values.map((value, at) => ({
            line: at + 1,
            value: JSON.parse(JSON.stringify(value)) as unknown,
          }));
          assert.deepEqual(await readAll(chunks), expected);
        },
      ),
    );
  });

  test('blank lines are passed over and counted, and what is no JSON does not stop the rest', async () => {
    const [first, second, ...more] = await readAll(['\n{]\r\n  \n1\n']);
    assert.equal(first?.line, 2);
    assert.ok(first && 'problem' in first);
    assert.deepEqual(second, { line: 4, value: 1 });
    assert.deepEqual(more, []);
  });

  test('a line beyond the limit is one problem and is not kept', async () => {
    const piece = 'a'.repeat(1024 * 1024);
    const lines = await readAll([piece, piece, piece, piece, piece, piece, '\n2']);
    assert.deepEqual(
      lines.map((line) => ('problem' in line ? 'problem' : line.value)),
      ['problem', 2],
    );
  });
});
