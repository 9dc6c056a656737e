/** SA-1: a child thinks no more than its parent. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asSubagent } from '#domain/assignment/subagent-agent.ts';
import { isWithinThinking, lesserThinking, THINKING } from '#domain/model/thinking.ts';

describe('SA-1 thinking', () => {
  it('of two levels the lesser one holds; one that is not set leaves the other', () => {
    assert.equal(lesserThinking('high', 'low'), 'low');
    assert.equal(lesserThinking('minimal', 'max'), 'minimal');
    assert.equal(lesserThinking(undefined, 'low'), 'low');
    assert.equal(lesserThinking('low', undefined), 'low');
    assert.equal(lesserThinking(undefined, undefined), undefined);
  });

  it('a child may think as much as its parent; of a parent without a level only nothing is known to be no more', () => {
    for (const [index, level] of THINKING.entries()) {
      assert.ok(THINKING.slice(0, index + 1).every((less) => isWithinThinking(less, level)));
      assert.ok(!THINKING.slice(index + 1).some((more) => isWithinThinking(more, level)));
    }
    assert.deepEqual(
      THINKING.filter((level) => isWithinThinking(level, undefined)),
      ['none'],
    );
  });

  it('what the agent is set to holds for its subagents too, also when it is changed later', () => {
    const agent = { key: 'a', type: 'open', model: 'p/m', thinking: 'low' } as const;
    const subagent = { depth: 1, leaf: true };
    assert.equal(asSubagent(agent, { ...subagent, thinking: 'high' }).thinking, 'low');
    assert.equal(asSubagent(agent, { ...subagent, thinking: 'none' }).thinking, 'none');
    assert.equal(asSubagent(agent, subagent).thinking, 'low');
  });
});
