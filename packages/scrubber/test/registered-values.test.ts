/** Values known at run time, in every form in which they are printed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type RegisteredKind, registerValues, scrubText } from '@tempoclaw/scrubber';
import fc from 'fast-check';

const { dynamic } = JSON.parse(readFileSync(new URL('./vectors/scrub.json', import.meta.url), 'utf8')) as {
  dynamic: {
    register?: string[];
    kind?: RegisteredKind | 'isolation';
    cases?: [string, string][];
    distinct_registered?: number;
  }[];
};

describe('cases of other scrubbers', () => {
  for (const { register = [], kind, cases = [], distinct_registered } of dynamic) {
    const values = registerValues(
      register.map((value) => ({ value, kind: kind === 'server_ip' ? 'server_ip' : 'credential' })),
    );
    for (const [text, expected] of cases)
      test(`${register.join(', ')} in ${text}`, () => assert.equal(scrubText(text, values).text, expected));
    if (distinct_registered !== undefined)
      test(`${JSON.stringify(register)} are ${distinct_registered} values`, () => {
        const addresses = register.map((value) => ({ value, kind: 'server_ip' as const }));
        assert.equal(registerValues(addresses).size, distinct_registered);
      });
  }
});

const VALUE = 'FAKE-registered/value+KFjz "T2o3" ssRux';
const bytes = Buffer.from(VALUE);
const hex = bytes.toString('hex');
const FORMS: Readonly<Record<string, string>> = {
  'as it is': VALUE,
  'in base64': bytes.toString('base64'),
  'in URL-safe base64': bytes.toString('base64url'),
  'in base64 with a line end': Buffer.from(`${VALUE}\n`).toString('base64'),
  'in base64 of base64': Buffer.from(bytes.toString('base64')).toString('base64'),
  'in base64 of base64 with line ends': Buffer.from(
    `${Buffer.from(`${VALUE}\n`).toString('base64')}\n`,
  ).toString('base64'),
  'in base64 broken over lines': bytes.toString('base64').replace(/(.{20})/g, '$1\n'),
  'in base64 broken over lines within JSON': JSON.stringify(
    bytes.toString('base64').replace(/(.{20})/g, '$1\n'),
  ),
  'in base64 within a URL': encodeURIComponent(bytes.toString('base64')),
  'in hex': hex,
  'in hex of capitals': hex.toUpperCase(),
  'in hex over lines': hex.replace(/(.{30})/g, '$1\n'),
  'in columns of hex': hex.replace(/(....)/g, '$1 '),
  'in hex with colons': hex.replace(/(..)/g, '$1:'),
  'in escaped bytes': hex.replace(/(..)/g, '\\x$1'),
  'in a URL': encodeURIComponent(VALUE),
  'in a form': new URLSearchParams({ v: VALUE }).toString(),
  'in percent signs throughout': hex.replace(/(..)/g, '%$1'),
  'in JSON': JSON.stringify(VALUE),
  'in JSON within JSON': JSON.stringify(JSON.stringify(VALUE)),
  'in JSON of code units': [...VALUE]
    .map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join(''),
  'in HTML': VALUE.replaceAll('"', '&quot;').replaceAll('+', '&#43;').replaceAll('/', '&#x2f;'),
  'quoted for a shell': VALUE.replaceAll(' ', '\\ ').replaceAll('"', '\\"'),
  'broken over lines': `${VALUE.slice(0, 12)}\n    ${VALUE.slice(12)}`,
};

describe('a registered value is found', () => {
  const values = registerValues([VALUE]);
  for (const [how, text] of Object.entries(FORMS))
    test(how, () => {
      const scrubbed = scrubText(`before ${text} after`, values).text;
      assert.match(
        scrubbed,
        /^before (v=|"{0,1}|\\?"){0,3}\[REDACTED\](Cg==|PT0K|[^A-Za-z0-9]*) ?after$/,
        scrubbed,
      );
    });

  test('in base64 of a text around it, to at most the four first characters', () => {
    for (let lead = 0; lead < 6; lead++)
      for (let tail = 0; tail < 4; tail++) {
        const code = Buffer.from(`${'u'.repeat(lead)}${VALUE}${'t'.repeat(tail)}`).toString('base64');
        const remaining = scrubText(code, values).text.split('[REDACTED]');
        assert.equal(remaining.length, 2, code);
        const known = Buffer.from(remaining[0] ?? '', 'base64')
          .toString()
          .replace(/^u+/, '');
        assert.ok(known.length <= 4, `${code} leaves ${known}`);
        assert.ok((remaining[1] ?? '').length <= 8, `${code} leaves ${remaining[1]}`);
      }
  });

  test('any value, in any of these forms, between any texts', () => {
    const value = fc
      .string({ minLength: 8, maxLength: 40, unit: 'grapheme' })
      .filter((text) => text.trim().length >= 8);
    const around = fc.constantFrom('', ' ', 'a', '\n', '"', '%', '\\\\', '=');
    fc.assert(
      fc.property(value, around, around, (secret, before, after) => {
        const registered = registerValues([secret]);
        const raw = Buffer.from(secret);
        for (const form of [
          secret,
          raw.toString('hex'),
          encodeURIComponent(secret),
          JSON.stringify(secret),
        ]) {
          const { text } = scrubText(`${before} ${form} ${after}`, registered);
          assert.ok(!text.includes(form), `${form} is left in ${text}`);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('only what was registered', () => {
  test('a short value is not taken, and neither is one of another bag', () => {
    assert.equal(registerValues(['abc12', '']).size, 0);
    const [one, two] = [registerValues(['first-fake-value']), registerValues(['second-fake-value'])];
    assert.equal(scrubText('first-fake-value', two).text, 'first-fake-value');
    assert.equal(scrubText('first-fake-value', one).text, '[REDACTED]');
  });

  test('an address is hidden in its other forms and not within a longer one', () => {
    const values = registerValues([{ value: '18.141.232.136', kind: 'server_ip' }]);
    const text =
      'ec2-18-141-232-136.test 311289992 136.232.141.18.in-addr.arpa 118.141.232.136 18.141.232.1365';
    assert.equal(
      scrubText(text, values).text,
      'ec2-[SERVER_IP].test [SERVER_IP] [SERVER_IP] 118.141.232.136 18.141.232.1365',
    );
  });
});
