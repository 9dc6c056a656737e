import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldAt, fillTemplate } from '../fill-template.ts';

const plain = (words: string) => words;

describe('fillTemplate', () => {
  it('fills in fields by their paths, and nothing else', () => {
    const data = { a: { b: [{ c: 'x' }, 2] }, yes: true, none: null };
    assert.equal(
      fillTemplate(
        '{{a.b.0.c}} {{ a.b.1 }} {{yes}} {{none}}{{a.q.r}}{{__proto__}}{{a.b.length}} {{a.b}}',
        data,
        plain,
      ),
      'x 2 true  [{"c":"x"},2]',
    );
    assert.equal(fillTemplate('{{1 + 1}} {{#if a}} { {a} }', data, plain), '{{1 + 1}} {{#if a}} { {a} }');
    assert.equal(fillTemplate('{{a}}', { a: '{{b}}', b: 'no' }, plain), '{{b}}');
  });

  it('shows text as it is told to, with its place', () => {
    const data = { a: 'x', b: 7, c: 'y' };
    const shown = fillTemplate('{{a}}{{b}}{{c}}', data, (words, place) => `[${place} ${words}]`);
    assert.equal(shown, '[1 x]7[3 y]');
  });

  it('ends long values, in all', () => {
    assert.equal(
      fillTemplate('{{a}}{{b}}', { a: 'x'.repeat(11_990), b: 'y'.repeat(100) }, plain).length,
      12_001,
    );
  });

  it('reads own fields alone', () => {
    assert.equal(fieldAt({}, 'constructor'), undefined);
    assert.equal(fieldAt([1], '0'), 1);
    assert.equal(fieldAt('text', '0'), undefined);
    assert.deepEqual(fieldAt({ a: 1 }, '.'), { a: 1 });
  });
});
