/** Globs mean what people expect, and no pattern takes long. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileGlob } from '@tempoclaw/shell-judge/glob';

const CASES: readonly (readonly [string, string, boolean])[] = [
  ['*.ts', 'a.ts', true],
  ['*.ts', 'd/a.ts', false],
  ['**/*.ts', 'a.ts', true],
  ['**/*.ts', 'd/e/a.ts', true],
  ['src/**', 'src/a/b', true],
  ['src/**', 'srcs/a', false],
  ['src/**/test/*.js', 'src/test/a.js', true],
  ['{a,b}/*.{js,ts}', 'b/x.ts', true],
  ['{a,{b,c}}/x', 'c/x', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['a*b*c', 'aXbYbZc', true],
  ['./a.txt', 'a.txt', true],
  ['日*.txt', '日本.txt', true],
  ['a.ts', 'axts', false],
];

describe('glob patterns', () => {
  for (const [pattern, path, matches] of CASES)
    test(`${pattern} ${matches ? 'matches' : 'does not match'} ${path}`, () => {
      const match = compileGlob(pattern);
      assert.ok(typeof match === 'function', String(match));
      assert.equal(match(path), matches);
    });

  test('many stars over a long name are answered without backtracking', () => {
    const match = compileGlob(`${'*a'.repeat(60)}b`);
    assert.ok(typeof match === 'function');
    // A backtracking matcher would not return from this one.
    assert.equal(match('a'.repeat(4_000)), false);
  });

  test('a pattern that leaves its folder or has too many alternatives is refused in words', () => {
    assert.match(String(compileGlob('../x')), /may not leave/);
    assert.match(String(compileGlob('{a,..}/x')), /may not leave/);
    assert.match(String(compileGlob('{a,b}'.repeat(10))), /more than 256/);
    assert.match(String(compileGlob('[a')), /never closed/);
  });
});
