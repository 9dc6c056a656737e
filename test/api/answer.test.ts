import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { encodeAnswer } from '#api/server/answer.ts';
import { timeSchema } from '#domain/schema/scalars.ts';

const at = new Date('2026-01-31T12:00:00.000Z');

describe('IN-1 an answer is made of a row', () => {
  test('with its times as text, its numbers as numbers, and null where there is no value', () => {
    const schema = z.object({
      at: timeSchema,
      ended_at: timeSchema.nullable(),
      text: z.string().nullable(),
      note: z.string().nullable().optional(),
      count: z.int(),
      cost: z.number().nullable(),
      parts: z.array(z.object({ at: timeSchema.nullable() })),
      either: z.union([z.object({ none: z.string() }), z.object({ at: timeSchema })]),
      given: z.record(z.string(), z.unknown()),
    });
    const row = {
      at,
      ended_at: at,
      text: undefined,
      note: undefined,
      count: '12',
      cost: '0.5',
      parts: [{ at }, { at: null }],
      either: { at },
      given: { count: '12' },
    };
    const iso = at.toISOString();
    assert.deepEqual(JSON.parse(JSON.stringify(encodeAnswer(schema, row))), {
      at: iso,
      ended_at: iso,
      text: null,
      count: 12,
      cost: 0.5,
      parts: [{ at: iso }, { at: null }],
      either: { at: iso },
      given: { count: '12' },
    });
  });

  test('without the fields that its schema does not have', () => {
    const row = { name: 'key', hash: 'secret', inner: { kept: true, sealed: 'secret' } };
    const schema = z.object({ name: z.string(), inner: z.object({ kept: z.boolean() }) });
    assert.deepEqual(encodeAnswer(schema, row), { name: 'key', inner: { kept: true } });
  });

  test('not where a row does not match it', () => {
    const schema = z.object({ count: z.int() });
    assert.throws(() => encodeAnswer(schema, { count: 'many' }), z.ZodError);
  });
});
