/** DE-2, DE-3: the time of a delegation and what models read about it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { secondsOf } from '#domain/assignment/delegation.ts';
import {
  delegatedTask,
  delegationGuide,
  delegationLabel,
  delegationResults,
  type ShownDelegation,
} from '#domain/assignment/delegation-words.ts';
import { VECTORS } from './vectors.ts';

describe('DE-2 the time that a delegation has', () => {
  for (const { mode, asked, seconds } of VECTORS.seconds)
    test(`${mode}, asked ${asked}: ${seconds} s`, () => {
      assert.equal(secondsOf(mode, asked ?? undefined), seconds);
    });
});

describe('DE-2 results that are announced', () => {
  const done: ShownDelegation = {
    id: 'del-1',
    target_key: 'b',
    label: 'l',
    status: 'completed',
    result: 'the answer',
    error: null,
    warnings: [],
  };
  const failed: ShownDelegation = {
    ...done,
    id: 'del-2',
    target_key: 'c',
    status: 'failed',
    error: { code: 'ExecutionFailed', message: 'no model' },
  };

  test('one message tells of all, each with its agent and its outcome', () => {
    assert.equal(
      delegationResults([done, failed]),
      '[Delegation result from b]\n\nthe answer\n\n[Delegation to c failed: no model]',
    );
  });

  test('who stopped it may say why', () => {
    const stopped: ShownDelegation = { ...done, status: 'cancelled', result: null };
    assert.equal(delegationResults([stopped]), '[Delegation to b failed: it was cancelled]');
    const error = { code: 'Cancelled', message: 'enough' };
    assert.equal(
      delegationResults([{ ...stopped, error }]),
      '[Delegation to b failed: it was cancelled: enough]',
    );
  });

  test('what a gate only warned of stands under the result', () => {
    assert.match(
      delegationResults([{ ...done, warnings: ['[Quality gate x]'] }]),
      /the answer\n\n\[Quality gate x\]$/,
    );
  });

  test('a long result is cut, and says where the whole is', () => {
    const text = delegationResults([{ ...done, result: 'x'.repeat(50_000) }]);
    assert.ok(text.length < 33_000);
    assert.match(text, /delegation_id=del-1\]$/);
  });

  test('the label is the first 100 characters of the task', () => {
    assert.equal(delegationLabel(` ${'ä'.repeat(200)}`).length, 100);
    assert.equal(delegationLabel(' \n'), 'delegation');
  });
});

describe('DE-2 the task as the target reads it', () => {
  test('has who gave it, the context, results it builds on at 8,000 characters each, and its files', () => {
    const text = delegatedTask({
      leftOut: ['big.bin of del-1'],
      from: 'lead',
      task: 'write it',
      context: 'for a child',
      dependencies: [{ label: 'facts', result: 'f'.repeat(9_000) }],
      files: ['inbox/a.txt'],
    });
    assert.match(text, /^\[Delegated by lead\]\n\nwrite it\n\nContext:\nfor a child\n\nResult of "facts"/);
    assert.equal(text.split('f'.repeat(8_000)).length, 2);
    assert.equal(text.includes('f'.repeat(8_001)), false);
    assert.match(text, /\n- inbox\/a\.txt\n\nFiles that did not fit [^\n]+:\n- big\.bin of del-1$/);
  });
});

describe('DE-3 DELEGATION.md', () => {
  const targets = Array.from({ length: 15 }, (_, index) => ({
    key: `agent-${index}`,
    name: null,
    description: index === 0 ? 'writes\nreports' : null,
    frontmatter: index === 0 ? 'tags: law,\ntax' : null,
  }));

  test('lists up to 15 targets with what they are good at', () => {
    const text = delegationGuide(targets, 15) ?? '';
    assert.match(text, /- agent-0: writes reports \[tags: law, tax\]\n/);
    assert.match(text, /- agent-14$/);
    assert.equal(text.includes('delegate_search'), false);
  });

  test('above that it says to search, and lists nobody', () => {
    const text = delegationGuide(targets, 16) ?? '';
    assert.match(text, /16 agents.*delegate_search/);
    assert.equal(text.includes('agent-0'), false);
  });

  test('is not there for an agent that is linked to nobody', () => {
    assert.equal(delegationGuide([], 0), undefined);
  });
});
