/** Which hooks a call has, and what a model's answer says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Hook, hooksOfCall, readModelAnswer } from '#domain/turn/hook.ts';
import { readAnswer } from '../read-answer.ts';

const hook: Hook = { event: 'subagent_start', type: 'command', command: 'true' };

describe('REFERENCE §10 hooks, their rules', () => {
  it('subagent_start is for what starts work, and not for looking at it or ending it', () => {
    const isCalled = (name: string, action?: string): boolean =>
      hooksOfCall([[hook]], { name }, action).length > 0;
    for (const [name, ...actions] of [
      ['spawn', undefined, 'spawn', 'run', 'steer', 'anything'],
      ['delegate', undefined, 'delegate'],
      ['evaluate_loop', undefined, 'list'],
    ] as const)
      for (const action of actions) assert.equal(isCalled(name, action), true, `${name} ${action}`);
    for (const [name, ...actions] of [
      ['spawn', 'list', 'get', 'wait', 'cancel'],
      ['delegate', 'list', 'get', 'history', 'cancel'],
      ['exec', 'spawn'],
    ] as const)
      for (const action of actions) assert.equal(isCalled(name, action), false, `${name} ${action}`);
  });

  it('a model that allows and denies has not answered', () => {
    for (const text of ['ALLOW or DENY? DENY: it is secret', 'ALLOW\nDENY: it is secret', 'allow, ASK: who'])
      assert.equal(readModelAnswer(text), undefined, text);
    assert.deepEqual(readModelAnswer('ALLOW.'), { decision: 'allow', reason: undefined });
    assert.deepEqual(readModelAnswer('deny: why'), { decision: 'deny', reason: 'why' });
  });

  it('an answer that cannot be read is refused in words for people', () => {
    for (const [text, words] of [
      ['<html>', 'its answer is not JSON'],
      ['null', 'its answer is not valid: the answer: Invalid input: expected object, received null'],
      ['{"reason":5}', 'its answer is not valid: reason: Invalid input: expected string, received number'],
    ] as const)
      assert.throws(() => readAnswer(text), { message: words });
    assert.deepEqual(readAnswer(' '), { decision: 'allow' });
  });
});
