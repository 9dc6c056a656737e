/** A secret of any shape is hidden in any context. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScrubStream, registerValues, scrubJson, scrubText } from '@tempoclaw/scrubber';
import fc from 'fast-check';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HEX = '0123456789abcdef';

/** The prefix of each vendor, the alphabet of the rest, and its length. None of these was ever issued. */
const SHAPES: readonly (readonly [prefix: string, alphabet: string, length: number])[] = [
  ['sk-ant-api03-', LETTERS, 80],
  ['sk-proj-A1', LETTERS, 44],
  ['ghp_', LETTERS, 36],
  ['gho_', LETTERS, 36],
  ['github_pat_11', LETTERS, 60],
  ['glpat-', LETTERS, 20],
  ['AKIA', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16],
  ['xoxb-123456789012-', LETTERS, 24],
  ['xapp-1-', LETTERS, 40],
  ['AIza', LETTERS, 35],
  ['ya29.', LETTERS, 60],
  ['GOCSPX-', LETTERS, 28],
  ['sk_live_', LETTERS, 24],
  ['rk_live_', LETTERS, 24],
  ['whsec_', LETTERS, 32],
  ['npm_', LETTERS, 36],
  ['pypi-AgEIcHlwaS5vcmc', LETTERS, 60],
  ['hf_', LETTERS, 34],
  ['r8_', LETTERS, 37],
  ['gsk_', LETTERS, 52],
  ['xai-', LETTERS, 80],
  ['pplx-', LETTERS, 48],
  ['dop_v1_', HEX, 64],
  ['dapi', HEX, 32],
  ['shpat_', HEX, 32],
  ['glsa_', LETTERS, 32],
  ['lin_api_', LETTERS, 40],
  ['ntn_', LETTERS, 46],
  ['hvs.', LETTERS, 24],
  ['dckr_pat_', LETTERS, 27],
  ['SK', HEX, 32],
  ['key-', HEX, 32],
  ['PMAK-', HEX, 58],
  ['sntrys_', LETTERS, 60],
  ['tskey-auth-', LETTERS, 32],
  ['nvapi-', LETTERS, 64],
  ['ABSKQmVkcm9ja0FQSUtleS', LETTERS, 60],
  ['xkeysib-', HEX, 64],
  ['dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX.', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 64],
  ['EZAK', LETTERS, 54],
  ['fio-u-', LETTERS, 64],
  ['rdme_', HEX, 70],
  ['shippo_live_', HEX, 40],
  ['duffel_live_', LETTERS, 43],
  ['AQVN', LETTERS, 36],
  ['sdk-0fa4e01b-fa4e-4fa4-afa4-', HEX, 12],
  ['eyJrIjoi', LETTERS, 80],
  ['sha256~', LETTERS, 43],
  ['tgp_v1_', LETTERS, 43],
  ['pcsk_4fAKE_', LETTERS, 63],
  ['vcp_', LETTERS, 56],
  ['napi_', HEX, 64],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmYWtlIn0.', LETTERS, 43],
  ['123456789:AA', LETTERS, 33],
  ['https://hooks.slack.com/services/T00000000/B00000000/', LETTERS, 24],
  ['', HEX, 64],
];

/** It ends in two digits that every alphabet has: one repeated letter would not be a secret. */
const secret = fc
  .constantFrom(...SHAPES)
  .chain(([prefix, alphabet, length]) =>
    fc
      .array(fc.constantFrom(...alphabet), { minLength: length - 2, maxLength: length - 2 })
      .map((rest) => `${prefix}${rest.join('')}72`),
  );

type Embed = (secret: string) => string;
const ESC = '\u001b';
/** The telling word is in the text before it, so the secret is separate in each of these. */
const EMBEDDINGS: Readonly<Record<string, Embed>> = {
  'as it is': (value) => value,
  'in a sentence': (value) => `it is ${value}, they say`,
  'in JSON after a line end': (value) => JSON.stringify({ output: `first line\n${value}\nlast line` }),
  'in JSON after a tab': (value) => JSON.stringify({ output: `name\t${value}\tend` }),
  'in JSON after a return': (value) => JSON.stringify({ output: `a\r\n${value}\r\n` }),
  'in JSON within JSON': (value) => JSON.stringify(JSON.stringify({ output: `a\n${value}\tb` })),
  'in JSON three deep': (value) => JSON.stringify(JSON.stringify(JSON.stringify(`a\n${value}`))),
  'in JSON with escaped slashes': (value) => JSON.stringify(`a\n${value}`).replaceAll('/', '\\/'),
  'after a colour': (value) => `${ESC}[32m${value}${ESC}[0m`,
  'after a word and a colour': (value) => `INFO${ESC}[0m${value}`,
  'after a colour of 24 bits': (value) => `${ESC}[1;38;2;10;20;30m${value}${ESC}[m`,
  'after a colour in JSON': (value) => JSON.stringify({ log: `${ESC}[31m${value}${ESC}[0m` }),
  'after a colour as a source writes it': (value) => `\\x1b[31m${value}\\033[0m \\e[1m${value}`,
  'after a colour whose ESC was lost': (value) => `[33m${value}[0m`,
  'after the reset of tput': (value) => `${ESC}(B${ESC}[m${value}`,
  'in a terminal link': (value) => `${ESC}]8;;https://x.test/\u0007${value}${ESC}]8;;\u0007`,
  'with its beginning marked by grep': (value) =>
    `${ESC}[01;31m${ESC}[K${value.slice(0, 6)}${ESC}[m${ESC}[K${value.slice(6)}`,
  'percent-encoded': (value) => `q=a%20${encodeURIComponent(value)}%0A`,
  'percent-encoded twice': (value) => `q=${encodeURIComponent(encodeURIComponent(`\n${value}`))}`,
  'after an escaped sign': (value) => `key\\u003d${value}\\u0026x`,
  'after an entity': (value) => `&lt;b&gt;&quot;${value}&quot;`,
  'after an escaped blank': (value) => `echo a\\ ${value}`,
};
const embedding = fc.constantFrom(...Object.entries(EMBEDDINGS));

function isGone(text: string, value: string, where: string): void {
  assert.ok(!text.includes(value.slice(-16)), `${where}: ${JSON.stringify(text)}`);
}

describe('a secret of any shape', () => {
  for (const [where, embed] of Object.entries(EMBEDDINGS))
    test(`is gone ${where}`, () => {
      fc.assert(
        fc.property(secret, (value) => {
          const scrubbed = scrubText(embed(value)).text;
          isGone(scrubbed, value, where);
          assert.equal(scrubText(scrubbed).text, scrubbed);
        }),
        { numRuns: 150 },
      );
    });

  test('is gone in arguments as in text', () => {
    fc.assert(
      fc.property(secret, embedding, (value, [where, embed]) => {
        const args = { command: embed(value), list: [{ deep: embed(value) }], [embed(value)]: 1 };
        isGone(JSON.stringify(scrubJson(args)), value, where);
      }),
      { numRuns: 500 },
    );
  });

  test('is gone in a stream, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(secret, embedding), { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        (parts, sizes) => {
          const text = parts.map(([value, [, embed]]) => embed(value)).join(' then\n');
          const stream = createScrubStream();
          let out = '';
          for (let at = 0, turn = 0; at < text.length; turn++) {
            const end = at + (sizes[turn % sizes.length] as number);
            out += stream.push(text.slice(at, end));
            at = end;
          }
          out += stream.end();
          for (const [value, [where]] of parts) isGone(out, value, where);
          assert.equal(out, scrubText(text).text);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is gone at the edges of long texts', () => {
    const line = `${'word '.repeat(12)}\n`;
    fc.assert(
      fc.property(secret, embedding, fc.integer({ min: 0, max: 2_000 }), (value, [where, embed], lines) => {
        const text = `${line.repeat(lines)}${embed(value)}${where.length % 2 ? `\n${line.repeat(1_500)}` : ''}`;
        isGone(scrubText(text).text, value, where);
      }),
      { numRuns: 60 },
    );
  });

  test('a registered value is gone under the colours of a terminal', () => {
    const registered = registerValues(['correct horse battery']);
    const text = `${ESC}[31mcorrect ${ESC}[1mhorse${ESC}[0m bat${ESC}[Ktery`;
    assert.equal(scrubText(text, registered).text, `${ESC}[31m[REDACTED]`);
  });
});

describe('a value that only its name tells', () => {
  const value = fc
    .array(fc.constantFrom(...LETTERS), { minLength: 10, maxLength: 30 })
    .map((letters) => `${letters.join('')}4Kz9`)
    // Such a text represents a value that was left out.
    .filter((text) => !/x{3}/i.test(text));
  const named: Readonly<Record<string, Embed>> = {
    bearer: (text) => `Authorization: Bearer ${text}`,
    'bearer in JSON': (text) => `{"Authorization":"Bearer ${text}"}`,
    'bearer in a list of JSON': (text) => `{"Authorization":["Bearer ${text}"]}`,
    'bearer of curl': (text) => `curl -H 'Authorization: Bearer ${text}' https://x.test`,
    'bearer with escaped blanks': (text) => `curl -H Authorization:\\ Bearer\\ ${text}`,
    secret: (text) => `secret: ${text}`,
    'secret in a file': (text) => `name: x\nsecret: ${text}\nhost: y\n`,
    dsn: (text) => `DSN=${text}`,
    'dsn of a URL': (text) => `DSN=postgres://user:${text}@host/db`,
    'dsn of Go': (text) => `user:${text}@tcp(host:3306)/db`,
    'dsn of pairs': (text) => `dsn = "host=h user=u password=${text} dbname=d"`,
    'in colours': (text) => `${ESC}[36msecret${ESC}[0m: ${ESC}[33m"${text}"${ESC}[0m`,
    'in JSON': (text) => JSON.stringify({ out: `a\nDSN=${text}\nsecret: ${text}\n` }),
  };
  for (const [where, embed] of Object.entries(named))
    test(`is gone: ${where}`, () => {
      fc.assert(
        fc.property(value, (text) => isGone(scrubText(embed(text)).text, text.slice(-10), where)),
        { numRuns: 150 },
      );
    });
});
