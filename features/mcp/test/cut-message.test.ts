/**
 * F12: a message that is too long is cut, in whichever order its fields are, and text that is no message is dropped.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBeginning } from '../activities/cut-message.ts';
import { createMessageLines } from '../activities/message-lines.ts';

const words = `first "quoted" \\ ${'é'.repeat(30_000)}`;
const result = { content: [{ type: 'text', text: words }] };

/** Reads it as it comes: in small pieces, with lines of at most 30,000 bytes. */
function read(text: string): readonly string[] {
  const lines = createMessageLines(30_000, 20_000);
  const bytes = Buffer.from(text);
  const received: string[] = [];
  for (let at = 0; at < bytes.length; at += 77) received.push(...lines.take(bytes.subarray(at, at + 77)));
  return [...received, ...lines.end()];
}

describe('F12 a message that is too long', () => {
  for (const [order, message] of [
    ['first', { jsonrpc: '2.0', id: 5, result }],
    ['last', { result, jsonrpc: '2.0', id: 5 }],
  ] as const)
    it(`whose id stands ${order} is the beginning of its result, with a note`, () => {
      const [line = '', next, ...rest] = read(`${JSON.stringify(message)}\n{"small":1}\n`);
      const cut = JSON.parse(line) as { id: number; result: { content: { text: string }[] } };
      assert.equal(cut.id, 5);
      assert.match(cut.result.content[0]?.text ?? '', /^first "quoted" \\ é+$/);
      assert.match(cut.result.content[1]?.text ?? '', /has \d+ bytes, more than are read/);
      assert.deepEqual([next, rest], ['{"small":1}', []]);
    });

  it('of an event stream keeps its field', () => {
    const [line = ''] = read(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 5, result })}\n`);
    assert.match(line, /^data: \{"jsonrpc"/);
  });

  it('that answers nothing, or is no JSON, is dropped', () => {
    const long = 'x'.repeat(40_000);
    assert.deepEqual(read(`{"jsonrpc":"2.0","method":"m","params":{"a":"${long}"}}\n`), []);
    assert.deepEqual(read(`${long}\n`), []);
    assert.deepEqual(read(`${JSON.stringify({ result: { a: long }, id: null })}\n`), []);
  });

  it('is closed wherever it ends', () => {
    const whole = JSON.stringify({ a: [1, { b: 'x\\"y\u0001' }, true, null], 'c"': { d: -1.5e3 } });
    for (let end = 1; end <= whole.length; end += 1) {
      const started = parseBeginning(whole.slice(0, end));
      assert.ok(typeof started === 'object' && started !== null, whole.slice(0, end));
    }
    assert.deepEqual(parseBeginning(whole), JSON.parse(whole));
  });

  it('of nothing but brackets and commas costs no more than any other', () => {
    assert.equal(parseBeginning(`${'['.repeat(300_000)}${','.repeat(300_000)}`), undefined);
  });
});
