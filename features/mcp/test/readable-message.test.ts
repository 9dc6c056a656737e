/** MC-1: a server's message that nearly follows the protocol is read as intended, or ends its request at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMessageLines } from '../activities/message-lines.ts';

function read(text: string): readonly unknown[] {
  const lines = createMessageLines();
  return [...lines.take(Buffer.from(text)), ...lines.end()].map((line) => JSON.parse(line) as unknown);
}

const answer = (of: object): object => ({ jsonrpc: '2.0', id: 5, ...of });
const failed = (code: number, message: string): object => answer({ error: { code, message } });
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

describe('MC-1 a message that is not quite one', () => {
  const result = { content: [] };
  const cases: Readonly<Record<string, readonly [sent: unknown, meant: unknown]>> = {
    'is whole': [answer({ result }), answer({ result })],
    'names no version': [{ id: 5, result }, answer({ result })],
    'names another version': [{ ...answer({ result }), jsonrpc: '1.0' }, answer({ result })],
    'is several': [
      [{ id: 5, result }, answer({ result })],
      [answer({ result }), answer({ result })],
    ],
    'has nothing as its result': [answer({ result: null }), failed(-32_603, 'the answer holds no result')],
    'has a text as its result': [answer({ result: 'done' }), failed(-32_603, 'the answer holds no result')],
    'has neither result nor error': [answer({}), failed(-32_603, 'the answer holds no result')],
    'has both': [answer({ result, error: { code: 1, message: 'no' } }), failed(1, 'no')],
    'has a text as its error': [answer({ error: 'broken' }), failed(-32_603, 'broken')],
    'has a code that is none': [answer({ error: { code: 'E', message: 'no' } }), failed(-32_603, 'no')],
    'has an error without words': [answer({ error: { code: 7 } }), failed(7, '{"code":7}')],
    'is a notification without a version': [{ method: 'm' }, { jsonrpc: '2.0', method: 'm' }],
    'is of something else': [
      { id: 5, name: 'a client' },
      { id: 5, name: 'a client' },
    ],
  };
  for (const [name, [sent, meant]] of Object.entries(cases))
    it(`and ${name}`, () => assert.deepEqual(read(`\ufeff${JSON.stringify(sent)}\r\n`), [meant]));

  it('and is no JSON ends its request', () => {
    const unread = failed(-32_700, 'the answer cannot be read: it is no JSON');
    assert.deepEqual(read('{"jsonrpc":"2.0","id":5,"result":{"content":[NaN]}}\n'), [unread]);
  });

  it('and is nested without end is read as far as may be', () => {
    const [message] = read(`{"jsonrpc":"2.0","id":5,"result":${nested(100_000)}}\n`);
    assert.ok(JSON.stringify(message).length < 2_000);
    assert.deepEqual(read(`${nested(150)}\n`), [JSON.parse(nested(150))]);
  });

  it('and is a greeting stays as it is', () => {
    assert.deepEqual(createMessageLines().take(Buffer.from('Ready {not json}\n{so not}\n')), [
      'Ready {not json}',
      '{so not}',
    ]);
  });
});
