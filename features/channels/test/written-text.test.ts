import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isWorthShowing, readPieces } from '../rules/written-text.ts';
import type { EventType, StoredEvent } from '#domain/event.ts';

const NOTHING = { last: 1, text: '', origin: '', isOver: false };

function event(id: number, type: EventType, data: object = {}, turn_id = 't1'): StoredEvent {
  return { id, type, turn_id, data: { ...data }, session_key: 's', at: '' };
}
const piece = (id: number, text: string, step = 0, attempt = 1) =>
  event(id, 'message.delta', { text, step, attempt });

describe('IN-4 an answer in pieces', () => {
  it('is all pieces of the newest attempt at the newest step', () => {
    const one = readPieces(NOTHING, [piece(2, 'a'), piece(3, 'b')], 't1');
    assert.deepEqual(one, { last: 3, text: 'ab', origin: '0/1', isOver: false });
    assert.equal(readPieces(one, [piece(4, 'c', 0, 2)], 't1').text, 'c');
    assert.equal(readPieces(one, [piece(4, 'c', 1)], 't1').text, 'c');
  });

  it('begins anew when what was shown is void', () => {
    const reset = event(4, 'message.reset', { step: 0, attempt: 1 });
    assert.equal(readPieces(NOTHING, [piece(2, 'a'), reset, piece(5, 'b')], 't1').text, 'b');
  });

  it('is over with its message or its turn; other turns do not count', () => {
    const other = event(3, 'turn.completed', {}, 't0');
    assert.deepEqual(readPieces(NOTHING, [piece(2, 'a'), other], 't1').isOver, false);
    for (const type of ['message.completed', 'turn.failed', 'turn.stopped'] as const)
      assert.equal(readPieces(NOTHING, [event(2, type)], 't1').isOver, true);
  });

  it('is shown when it cannot become a word that says nothing', () => {
    assert.deepEqual(['', ' ', 'NO', 'NO_REPLY', 'HEART'].map(isWorthShowing), Array(5).fill(false));
    assert.deepEqual(['Now', 'NO_REPLY yet', 'Heart'].map(isWorthShowing), [true, true, true]);
  });
});
