import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOver, type Measured, readLimits } from '#domain/figure-limits.ts';

const FIGURES = ['cost', 'denied', 'failed'];
const over = (text: string, measured: Measured): boolean | undefined => {
  const [limit] = readLimits(text, FIGURES);
  assert.ok(limit);
  return isOver(limit, measured);
};

describe('DU-6, DU-10 limits on figures', () => {
  it('are of one figure each, with `or` between them', () => {
    assert.deepEqual(
      readLimits('cost > +10%  or denied>0 or failed>5.5%', FIGURES).map(({ text, kind, over: n }) => [
        text,
        kind,
        n,
      ]),
      [
        ['cost>+10%', 'riseShare', 10],
        ['denied>0', 'count', 0],
        ['failed>5.5%', 'share', 5.5],
      ],
    );
  });

  it('that cannot be read are refused with what is allowed', () => {
    for (const text of [
      '',
      'cost',
      'cost>',
      'cost<5',
      'cost>-1',
      'cost>1 and denied>0',
      'price>1',
      'cost>1e9',
      'cost>1 or ',
    ])
      assert.throws(
        () => readLimits(text, FIGURES),
        /is no limit: write FIGURE>N.*cost, denied, failed/,
        text,
      );
    assert.throws(
      () => readLimits('cost>1 and denied>0', FIGURES),
      /^Error: "cost>1 and denied>0" is no limit: .* or several with "or" between them/,
    );
    assert.throws(() => readLimits(Array(21).fill('cost>1').join(' or '), FIGURES), /at most 20 limits/);
  });

  it('are exceeded only above them', () => {
    assert.equal(over('denied>2', { now: 2 }), false);
    assert.equal(over('denied>2', { now: 3 }), true);
    assert.equal(over('failed>5%', { now: 5, whole: 100 }), false);
    assert.equal(over('failed>5%', { now: 6, whole: 100 }), true);
    assert.equal(over('failed>5%', { now: 0, whole: 0 }), false);
    assert.equal(over('denied>+1', { now: 3, before: 2 }), false);
    assert.equal(over('denied>+1', { now: 4, before: 2 }), true);
    assert.equal(over('cost>+10%', { now: 1.1, before: 1 }), false);
    assert.equal(over('cost>+10%', { now: 1.2, before: 1 }), true);
    assert.equal(over('cost>+10%', { now: 0.01, before: 0 }), true);
  });

  it('of what is not known are neither exceeded nor kept', () => {
    assert.equal(over('cost>+10%', { now: 1, before: null }), undefined);
    assert.equal(over('cost>10%', { now: 1 }), undefined);
  });
});
