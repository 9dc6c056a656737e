/** DU-2: ids say what belongs to what, also if messages' ids contain dots. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callIdOf, isCallOf, turnIdOf } from '#domain/ids.ts';

describe('DU-2 the id of a call', () => {
  it('names its turn, and no other one whose id begins alike', () => {
    const [turn, alike] = [turnIdOf('m.1'), turnIdOf('m.1.2.0')];
    assert.ok(isCallOf(turn, callIdOf(turn, 2, 0)));
    assert.ok(isCallOf(alike, callIdOf(alike, 2, 0)));
    assert.ok(!isCallOf(turn, callIdOf(alike, 2, 0)));
    assert.ok(!isCallOf(alike, callIdOf(turn, 2, 0)));
  });
});
