/** MC-1, AP-3: forms of MCP servers are read within limits, and answers fit them or get a reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerProblem,
  formLines,
  formSchema,
  type McpForm,
  readAnswer,
  readForm,
  standardAnswer,
} from '#domain/form.ts';

const PROPERTIES = {
  name: { type: 'string', minLength: 2, maxLength: 5, description: 'Yours' },
  mail: { type: 'string', format: 'email' },
  site: { type: 'string', format: 'uri' },
  day: { type: 'string', format: 'date' },
  at: { type: 'string', format: 'date-time' },
  age: { type: 'integer', minimum: 0, maximum: 150, default: 40 },
  share: { type: 'number' },
  agree: { type: 'boolean', default: true },
  color: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
  hero: { type: 'string', oneOf: [{ const: 'h1', title: 'One' }], default: 'nobody' },
  tools: {
    type: 'array',
    items: {
      anyOf: [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'B' },
      ],
    },
    maxItems: 1,
  },
};

function formOf(properties: object, required: readonly string[] = []): McpForm | undefined {
  return readForm('peer', { message: 'Hi', requestedSchema: { type: 'object', properties, required } });
}

describe('MC-1 forms of MCP servers', () => {
  const form = formOf(PROPERTIES, ['name']);
  assert.ok(form);

  it('a default that fits is the answer already, and one that does not is none', () => {
    assert.deepEqual(standardAnswer(form), { age: 40, agree: true });
  });

  it('an answer fits when each field does', () => {
    const whole = {
      name: 'Adä',
      mail: 'a@b.c',
      site: 'https://a.b',
      day: '2026-01-31',
      at: '2026-01-31T10:00:00Z',
    };
    assert.equal(
      answerProblem(form, { ...whole, share: 0.5, color: 'r', hero: 'h1', tools: ['a'] }),
      undefined,
    );
    for (const [answer, problem] of [
      [{}, /name is required/],
      [{ name: 'A' }, /name must be at least 2 characters/],
      [{ name: 'Adelaide' }, /name must be at most 5 characters/],
      [{ name: 7 }, /name must be text/],
      [{ name: 'Ada', mail: 'nobody' }, /mail must be a valid email/],
      [{ name: 'Ada', site: 'here' }, /site must be a valid uri/],
      [{ name: 'Ada', day: '2026-13-01' }, /day must be a valid date/],
      [{ name: 'Ada', at: 'now' }, /at must be a valid date-time/],
      [{ name: 'Ada', age: 1.5 }, /age must be a whole number/],
      [{ name: 'Ada', age: 151 }, /age must be at most 150/],
      [{ name: 'Ada', agree: 'yes' }, /agree must be true or false/],
      [{ name: 'Ada', color: 'b' }, /color must be one of its options/],
      [{ name: 'Ada', tools: ['a', 'b'] }, /tools must be at most 1 choices/],
      [{ name: 'Ada', tools: ['a', 'a'] }, /tools must be a list of its options, each once/],
      [{ name: 'Ada', other: 1 }, /there is no field other/],
    ] as const)
      assert.match(answerProblem(form, answer) ?? '', problem);
  });

  it('what a page sends becomes values of the fields’ types, and what is left empty is not given', () => {
    const sent: readonly (readonly [string, string])[] = [
      ['name', 'Ada'],
      ['mail', ''],
      ['age', '41'],
      ['tools', 'a'],
      ['tools', 'b'],
      ['unknown', 'x'],
    ];
    assert.deepEqual(readAnswer(form, sent), { name: 'Ada', age: 41, agree: false, tools: ['a', 'b'] });
    const [list] = form.fields.filter(({ name }) => name === 'tools');
    assert.ok(list);
    assert.deepEqual(readAnswer({ fields: [list] }, []), { tools: [] });
    assert.deepEqual(readAnswer({ fields: [{ ...list, min: 1 }] }, []), {});
  });

  it('shown to an MCP client it is the same form', () => {
    const again = readForm('peer', { message: 'Hi', requestedSchema: formSchema(form) });
    assert.deepEqual(again, form);
  });

  it('an address is one of the web, and is said', () => {
    const request = readForm('peer', { mode: 'url', message: 'Log in', url: 'https://login.example/x' });
    assert.ok(request);
    assert.match(formLines(request).join('\n'), /open https:\/\/login\.example\/x/);
    assert.equal(readForm('peer', { mode: 'url', message: 'x', url: 'javascript:alert(1)' }), undefined);
    const broken = readForm('peer', { mode: 'url', message: 'x', url: 'https://a.b/\nfine\u202e' });
    assert.equal(broken?.url, 'https://a.b/fine%E2%80%AE');
  });

  it('what is beyond bounds or no form is refused', () => {
    assert.equal(formOf({ deep: { type: 'object', properties: {} } }), undefined);
    assert.equal(formOf({ list: { type: 'array', items: { type: 'string' } } }), undefined);
    assert.equal(formOf({ ['x'.repeat(101)]: { type: 'string' } }), undefined);
    const many = Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`f${at}`, { type: 'string' }]));
    assert.equal(formOf(many), undefined);
    assert.equal(formOf({ pick: { type: 'string', enum: Array.from({ length: 201 }, String) } }), undefined);
    assert.equal(readForm('peer', { message: 'no schema' }), undefined);
    assert.equal(readForm('peer', 'nothing'), undefined);
  });
});
