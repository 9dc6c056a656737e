/** EX-1: arguments of tools whose schema another program wrote, such as those of MCP servers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import type { Tool } from '#policy/define-tool.ts';
import { readArguments } from '#policy/read-arguments.ts';
import { uncheckedArguments } from '#policy/unchecked-arguments.ts';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const textOrNull = { anyOf: [text, { type: 'null' }] };

/** What reaches the other program; undefined for a refused call. */
function read(schema: Schema, args: unknown, placeholders = true): unknown {
  const tool = {
    name: 't',
    input: uncheckedArguments({ type: 'object', ...schema }, { placeholders }),
  } as unknown as Tool;
  const result = readArguments(tool, undefined, args);
  return result.ok ? result.input : undefined;
}

describe('EX-1 which parameters a foreign schema has', () => {
  for (const [what, schema] of [
    ['more properties of any kind', { properties: { a: text }, additionalProperties: true }],
    ['more properties of one kind', { properties: { a: text }, additionalProperties: text }],
    ['properties by pattern', { patternProperties: { '^x-': text } }],
    ['properties of alternatives', { anyOf: [{ properties: { a: text } }, { properties: { 'x-b': text } }] }],
  ] as const)
    test(`${what} are passed on`, () => assert.deepEqual(read(schema, { 'x-b': '1' }), { 'x-b': '1' }));

  test('others are refused, and none is the prototype of the arguments', () => {
    assert.equal(read({ properties: { a: text } }, { b: 1 }), undefined);
    assert.equal(read({ properties: { a: text }, additionalProperties: false }, { b: 1 }), undefined);
    assert.equal(read({ additionalProperties: true }, JSON.parse('{"__proto__": {"a": 1}}')), undefined);
  });
});

describe('EX-1 an empty text', () => {
  const input = z.object({
    path: z.string().min(1),
    mode: z.enum(['a', 'b']).default('a'),
    limit: z.int().optional(),
    note: z.string().optional(),
  });
  const tool = { name: 't', input } as unknown as Tool;

  test('counts as left out where an optional parameter takes none', () => {
    const args = { path: 'x', mode: '', limit: '', note: '' };
    assert.deepEqual(readArguments(tool, undefined, args), {
      ok: true,
      input: { path: 'x', mode: 'a', note: '' },
      args: { path: 'x', note: '' },
    });
  });

  test('is refused where it must be given, and so is any other wrong value', () => {
    for (const args of [{ path: '' }, { path: 'x', mode: ' ' }, { path: 'x', mode: 'c', limit: '' }])
      assert.equal(readArguments(tool, undefined, args).ok, false);
  });
});

describe('EX-1 null', () => {
  test('is kept where a parameter must be given and may be null', () => {
    for (const property of [textOrNull, { type: ['string', 'null'] }])
      assert.deepEqual(read({ properties: { a: property }, required: ['a'] }, { a: null }), { a: null });
    assert.equal(read({ properties: { a: text }, required: ['a'] }, { a: null }), undefined);
    assert.deepEqual(read({ properties: { a: textOrNull } }, { a: null }), {});
  });

  test('does not hide the type that a text in quotes is meant as', () => {
    for (const property of [
      { type: ['integer', 'null'] },
      { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    ])
      assert.deepEqual(read({ properties: { n: property } }, { n: '5' }), { n: 5 });
    assert.deepEqual(read({ properties: { n: { type: ['integer', 'string'] } } }, { n: '5' }), { n: '5' });
  });

  test('is read within lists, objects and maps', () => {
    const job = { type: 'object', properties: { n: { type: 'integer' }, on: { type: 'boolean' } } };
    const properties = {
      jobs: { anyOf: [{ type: 'array', items: job }, { type: 'null' }] },
      job: { anyOf: [job, { type: 'null' }] },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      free: {},
    };
    assert.deepEqual(
      read({ properties }, { jobs: [{ n: '5' }], job: { on: 'true' }, map: { a: '5' }, free: { n: '5' } }),
      { jobs: [{ n: 5 }], job: { on: true }, map: { a: 5 }, free: { n: '5' } },
    );
    const odd = { type: 'object', anyOf: 'x', properties: 'y', items: 1 };
    assert.deepEqual(read({ properties: { a: odd } }, { a: { b: '1' } }), { a: { b: '1' } });
  });

  test('is read by the kind of object that it is in, and not where it may be anything', () => {
    const kind = (value: string, more: Schema, rest: Schema = {}) => ({
      type: 'object',
      properties: { kind: { const: value }, ...more },
      ...rest,
    });
    const closed = { additionalProperties: false };
    const properties = {
      one: {
        oneOf: [
          kind('every', { value: { type: 'integer' } }, closed),
          kind('at', { value: text }),
          kind('any', {}),
        ],
      },
    };
    for (const [before, after] of [
      [
        { kind: 'every', value: '60' },
        { kind: 'every', value: 60 },
      ],
      [
        { kind: 'at', value: 60 },
        { kind: 'at', value: '60' },
      ],
      [
        { kind: 'any', value: 60 },
        { kind: 'any', value: 60 },
      ],
      [{ value: '60' }, { value: '60' }],
    ])
      assert.deepEqual(read({ properties }, { one: before }), { one: after });
  });
});

describe('MC-1 what models fill in without meaning it', () => {
  const properties = { a: text };

  for (const value of [
    '',
    ' ',
    'null',
    'None',
    'undefined',
    'N/A',
    'optional',
    '__OMIT__',
    'NOT_SET',
    'DO_NOT_SEND',
  ])
    test(`${JSON.stringify(value)} is left out where it is optional, and kept where it is required`, () => {
      assert.deepEqual(read({ properties }, { a: value }), {});
      assert.deepEqual(read({ properties, required: ['a'] }, { a: value }), { a: value });
    });

  for (const value of [
    'GET',
    'USD',
    'nothing',
    'none of them',
    'https://example.com/page',
    'http://localhost',
  ])
    test(`${JSON.stringify(value)} is meant`, () =>
      assert.deepEqual(read({ properties }, { a: value }), { a: value }));

  test('false, 0, empty lists and empty objects are meant', () => {
    const args = { a: false, b: 0, c: [], d: {} };
    assert.deepEqual(read({ properties: { a: {}, b: {}, c: {}, d: {} } }, args), args);
  });

  test('a word that the schema lists is meant, and one of a tool that is not of MCP', () => {
    const listed = { enum: ['none', 'all'] };
    for (const property of [
      listed,
      { anyOf: [listed, { type: 'null' }] },
      { $ref: '#/$defs/A' },
      { default: 'none' },
    ])
      assert.deepEqual(read({ properties: { a: property } }, { a: 'none' }), { a: 'none' });
    assert.deepEqual(read({ properties }, { a: 'none' }, false), { a: 'none' });
  });
});

describe('EX-1 what is wrong with an argument', () => {
  test('an empty text or list counts as absent where a parameter takes none', () => {
    const input = z.object({
      paths: z.array(z.string()).min(1).optional(),
      type: z.string().min(1).optional(),
      words: z.string(),
      all: z.array(z.string()).optional(),
    });
    const tool = { name: 't', input } as unknown as Tool;
    const result = readArguments(tool, undefined, { paths: [], type: '', words: '', all: [] });
    assert.deepEqual(result.ok && result.input, { words: '', all: [] });
  });

  test('a value of a wrong type has no size', () => {
    const input = z.object({ paths: z.array(z.string()).max(2), words: z.string().min(1) });
    const tool = { name: 't', input } as unknown as Tool;
    assert.deepEqual(readArguments(tool, undefined, { paths: 'i.png', words: [] }), {
      ok: false,
      message:
        'paths: Invalid input: expected array, received string; words: Invalid input: expected string, received array. Parameters of t: paths, words',
    });
  });
});
