import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { schemaProblem } from '#domain/schema/problem-words.ts';

describe('IN-1 what a schema rejects, in words for its sender', () => {
  const schema = z.strictObject({ text: z.string(), to: z.strictObject({ count: z.number() }).optional() });
  const problem = (value: unknown): string =>
    schemaProblem(schema.safeParse(value).error as z.ZodError, 'input');

  it('names each field, on one line, and not the parts of a schema', () => {
    assert.equal(problem({}), 'text: is required');
    assert.equal(problem({ text: 'x', txt: 1, a: 1 }), 'txt: is not a known field; a: is not a known field');
    assert.equal(problem({ text: 'x', to: { count: 1, by: 2 } }), 'to.by: is not a known field');
    assert.match(problem('x'), /^input: /);
  });
});
