/** Arguments and other JSON are scrubbed completely. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { registerValues, scrubJson } from '@tempoclaw/scrubber';
import fc from 'fast-check';

const TOKEN = 'ghp_FAKEaB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3';

describe('arguments', () => {
  test('texts are scrubbed at any depth, values by their names, and the rest is as it was', () => {
    const value = scrubJson({
      command: `curl -H "Authorization: Bearer ${TOKEN.slice(4)}" https://x.test`,
      env: { API_TOKEN: 'FAKE99aa88bb77cc', HOME: '/root', retries: 3, dry: true, none: null },
      list: ['plain', { password: 'Fake1234pw', user: 'me' }, [TOKEN]],
      [TOKEN]: 'a secret may be a key',
    });
    assert.deepEqual(value, {
      command: 'curl -H "Authorization: Bearer [REDACTED]" https://x.test',
      env: { API_TOKEN: '[REDACTED]', HOME: '/root', retries: 3, dry: true, none: null },
      list: ['plain', { password: '[REDACTED]', user: 'me' }, ['[REDACTED]']],
      '[REDACTED]': 'a secret may be a key',
    });
  });

  test('a list of arguments is read as a command line', () => {
    assert.deepEqual(scrubJson({ args: ['--password', 'Fake1234pw', '--verbose', 'word'] }), {
      args: ['--password', '[REDACTED]', '--verbose', 'word'],
    });
  });

  test('a value with quotes or line ends is judged by its name too', () => {
    for (const password of ['Fake"12\\34pw', 'Fake12\n34pw', "Fa'ke1234"])
      assert.deepEqual(scrubJson({ password }), { password: '[REDACTED]' }, password);
  });

  test('a header and an address are judged as they are in text', () => {
    const key = 'FAKEaa88bb77';
    assert.deepEqual(
      scrubJson({
        headers: { Authorization: `Bearer ${key}`, Accept: ['text/html'] },
        pairs: [['x-api-key', key], { name: 'DB_PASSWORD', value: 'Fake1234pw' }],
        dsn: 'user:Fake1234pw@tcp(host:3306)/db',
        DATABASE_URL: 'postgres://user:Fake1234pw@host/db',
      }),
      {
        headers: { Authorization: 'Bearer [REDACTED]', Accept: ['text/html'] },
        pairs: [['x-api-key', '[REDACTED]'], { name: 'DB_PASSWORD', value: '[REDACTED]' }],
        dsn: 'user:[REDACTED]@tcp(host:3306)/db',
        DATABASE_URL: 'postgres://user:[REDACTED]@host/db',
      },
    );
  });

  test('registered values go', () => {
    const registered = registerValues(['fake-registered-1']);
    assert.deepEqual(scrubJson({ a: ['x fake-registered-1'] }, registered), { a: ['x [REDACTED]'] });
  });

  test('what holds no secret comes back equal, also with odd keys', () => {
    const word = fc.stringMatching(/^[a-z]{0,8}$/);
    const json = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(word, fc.constantFrom('__proto__', 'constructor')), tie('node'), {
          maxKeys: 4,
        }),
      ),
    })).node;
    fc.assert(
      fc.property(json, (value) => {
        assert.equal(JSON.stringify(scrubJson(value)), JSON.stringify(value));
      }),
    );
  });

  test('nesting without end is cut, not followed', () => {
    let deep: unknown = TOKEN;
    for (let depth = 0; depth < 5_000; depth++) deep = [deep];
    assert.ok(!JSON.stringify(scrubJson(deep)).includes(TOKEN));
  });
});
