import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parameterProblems } from '../rules/check-parameters.ts';
import { envNameProblem } from '#domain/added-tool.ts';
import { customNameProblem } from '../rules/definition.ts';

function withProperty(property: unknown, more: object = {}): unknown {
  return { type: 'object', properties: { a: property }, ...more };
}

describe('CU-1 the schema of a custom tool', () => {
  test("the seed's own and others like it are taken", () => {
    const dns = {
      type: 'object',
      properties: {
        domain: { type: 'string', description: 'Domain name' },
        record_type: { type: 'string', enum: ['A', 'AAAA', 'MX', 'CNAME', 'TXT'] },
      },
      required: ['domain'],
    };
    assert.deepEqual(parameterProblems(dns), []);
    assert.deepEqual(parameterProblems({ type: 'object' }), []);
    const much = {
      anyOf: [{ type: 'integer', minimum: 1 }, { const: 'all' }],
      default: 'all',
      not: { enum: ['none'] },
    };
    assert.deepEqual(parameterProblems(withProperty(much, { additionalProperties: false })), []);
  });

  let deep: object = { type: 'string' };
  for (let depth = 0; depth < 10; depth += 1) deep = { not: deep };
  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['no object', 'text', /must be a JSON Schema object/],
    ['another type', { type: 'string' }, /type: must be "object"/],
    ['a reference elsewhere', withProperty({ $ref: 'http://example.com/s.json' }), /\$ref: is not supported/],
    ['definitions', { type: 'object', $defs: {} }, /\$defs: is not supported/],
    ['an id', { type: 'object', $id: 'x' }, /\$id: is not supported/],
    ['a misspelt keyword', withProperty({ type: 'string', enmu: [] }), /enmu: is not supported/],
    ['a list', withProperty({ type: 'array' }), /one word of the command/],
    ['an object', withProperty({ anyOf: [{ type: ['string', 'object'] }] }), /one word of the command/],
    ['too deep', withProperty(deep), /too deep/],
    ['too many nodes', withProperty({ anyOf: Array.from({ length: 300 }, () => ({})) }), /too large/],
    [
      'too many patterns',
      withProperty({ allOf: Array.from({ length: 21 }, () => ({ pattern: 'a' })) }),
      /patterns/,
    ],
    ['too long a pattern', withProperty({ pattern: 'a'.repeat(501) }), /pattern: must be/],
    ['too much text', withProperty({ description: 'x'.repeat(40_000) }), /at most 32768/],
    [
      'a name that objects have',
      JSON.parse('{"type":"object","properties":{"__proto__":{}}}'),
      /cannot name/,
    ],
    ['another such name', { type: 'object', properties: { constructor: {} } }, /cannot name/],
    ['a name that is no key', { type: 'object', properties: { 'a b': {} } }, /cannot name/],
    ['something required that is not there', withProperty({}, { required: ['b'] }), /b is not among/],
    ['a list that is none', withProperty({}, { required: 'a' }), /required: must be a list/],
    ['a property that is no schema', withProperty(true), /must be a schema object/],
  ];
  for (const [name, schema, message] of refused)
    test(`refused: ${name}`, () => assert.match(parameterProblems(schema).join('; '), message));
});

describe('CU-1 names', () => {
  test('a tool is named so that models, Temporal and policies take it', () => {
    for (const name of ['dns_lookup', 'a', 'git-log', 'x2']) assert.equal(customNameProblem(name), undefined);
    for (const name of [
      '',
      'Bad Name!',
      '2x',
      'Exec',
      'mcp_x',
      'a__b',
      'call_model',
      'custom',
      'a'.repeat(65),
    ])
      assert.notEqual(customNameProblem(name), undefined, name);
  });

  test('a variable of the environment does not change which programs run', () => {
    for (const name of ['API_KEY', 'x', 'PGPASSWORD']) assert.equal(envNameProblem(name), undefined);
    for (const name of ['PATH', 'LD_PRELOAD', 'BASH_ENV', 'TEMPOCLAW_CALL', '1A', 'A B', '', 'BASH_FUNC_x'])
      assert.notEqual(envNameProblem(name), undefined, name);
  });
});
