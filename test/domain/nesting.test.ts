/** How deep a text of JSON nests, whatever its strings contain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isNestedDeeper } from '#domain/nesting.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('the depth of any JSON is told as reading it would tell', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const depth = depthOf(value);
      for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        assert.equal(isNestedDeeper(json, depth), false);
        if (depth > 0) assert.equal(isNestedDeeper(json, depth - 1), true);
      }
    }),
  );
});

test('brackets within a long text, and its escapes, are no depth', () => {
  assert.equal(isNestedDeeper(JSON.stringify({ text: '[{"\\'.repeat(1_000_000) }), 1), false);
});
