/**
 * Web pages as a reader meets them, and what a model may read of each. They are made from the HTML standard's elements,
 * the categories of Unicode, CSS properties that hide, the Encoding standard, RFC 9110's types and RFC 8259. `SEEN1`,
 * `SEEN2`… are what people see, `LEAK` is what they do not.
 */
import { gzipSync } from 'node:zlib';
import { doc, type PageCase } from './page-case.ts';
import { TABLES } from './table-pages.ts';

const shows = (name: string, part: string, has: PageCase['has'], head?: string): PageCase => ({
  name: `shown: ${name}`,
  body: doc(part, head),
  has,
});

const LONG = 'The sea otter uses stones as tools and sleeps in the kelp. '.repeat(60);

const INVISIBLES: readonly PageCase[] = (
  [
    ['zero-width spaces', '\u200b\u200b'],
    ['joiners between Latin letters', '\u200d\u200c'],
    ['word joiners', '\u2060\u2061\u2062\u2063\u2064'],
    ['byte order marks', '\ufeff'],
    ['tags', '\u{e0049}\u{e0047}\u{e004e}\u{e007f}'],
    ['variation selectors', '\ufe00\ufe0e\ufe0f'],
    ['variation selectors supplement', '\u{e0100}\u{e01ef}\u{e0148}'],
    ['bidi overrides', '\u202e\u2066\u2069\u202c'],
    ['soft hyphens', '\u00ad'],
    ['Hangul fillers', '\u115f\u1160\u3164\uffa0'],
    ['Mongolian vowel separators', '\u180e\u180b'],
    ['grapheme joiners', '\u034f'],
    ['interlinear annotations', '\ufff9\ufffa\ufffb'],
    ['private use', '\ue000\u{f0000}\u{10fffd}'],
    ['noncharacters', '\ufdd0\uffff\u{1fffe}'],
    ['shorthand and musical controls', '\u{1bca0}\u{1d173}'],
    ['escape and bell', '\u001b[31m\u0007'],
    ['C1 controls', '\u0080\u009b1m\u009d'],
    ['backspaces', '\b\u007f'],
  ] as const
).flatMap(([name, chars]): PageCase[] =>
  ['text/html', 'text/plain', 'application/json'].map((type) => {
    const text = `SEEN1${chars}SEEN2`;
    const body =
      type === 'text/html'
        ? doc(`<p>${text}</p>`)
        : type === 'text/plain'
          ? text
          : JSON.stringify({ a: text });
    const lacks = [...new Set(chars)].filter((char) => !/[[0-9m]/.test(char));
    return { name: `invisible: ${name} of ${type}`, type, body, has: ['SEEN1', 'SEEN2'], lacks };
  }),
);

const STRUCTURE: readonly PageCase[] = [
  shows(
    'a table of a short page',
    '<h1>Prices</h1><table><tr><th>SEEN1</th><th>SEEN2</th></tr><tr><td>SEEN3</td><td>SEEN4</td></tr></table>',
    [/\| ?SEEN1 ?\| ?SEEN2 ?\|/, /\| ?SEEN3 ?\| ?SEEN4 ?\|/],
  ),
  shows(
    'a table after an article',
    `<article><h1>Otters</h1><p>${LONG}</p></article><table><tr><td>SEEN1</td><td>SEEN2</td></tr></table>`,
    ['sea otter', 'SEEN1', 'SEEN2'],
  ),
  shows(
    'a table with a caption and a foot',
    '<table><caption>SEEN1</caption><thead><tr><th>SEEN2</th></tr></thead><tbody><tr><td>SEEN3</td></tr></tbody><tfoot><tr><td>SEEN4</td></tr></tfoot></table>',
    ['SEEN1', 'SEEN2', 'SEEN3', 'SEEN4'],
  ),
  shows(
    'a table within a table',
    '<table><tr><td>SEEN1<table><tr><td>SEEN2</td></tr></table></td></tr></table>',
    ['SEEN1', 'SEEN2'],
  ),
  shows(
    'a table without rows of heads',
    '<table><tr><td>SEEN1</td><td>1</td></tr><tr><td>SEEN2</td><td>2</td></tr></table>',
    ['SEEN1', 'SEEN2'],
  ),
  shows(
    'cells that span',
    '<table><tr><td colspan="2">SEEN1</td></tr><tr><td rowspan="2">SEEN2</td><td>SEEN3</td></tr></table>',
    ['SEEN1', 'SEEN2', 'SEEN3'],
  ),
  shows('a list of a short page', '<ul><li>SEEN1</li><li>SEEN2</li></ul>', [/[-*] SEEN1/, /[-*] SEEN2/]),
  shows('a numbered list', '<ol><li>SEEN1</li><li>SEEN2</li></ol>', [/1\. SEEN1/, /2\. SEEN2/]),
  shows('a nested list', '<ul><li>SEEN1<ul><li>SEEN2</li></ul></li></ul>', ['SEEN1', 'SEEN2']),
  shows('a list of links', '<ul><li><a href="/a">SEEN1</a></li><li><a href="/b">SEEN2</a></li></ul>', [
    'SEEN1',
    '/a',
    'SEEN2',
    '/b',
  ]),
  shows(
    'a description list of a short page',
    '<dl><dt>SEEN1</dt><dd>SEEN2</dd><dt>SEEN3</dt><dd>SEEN4</dd></dl>',
    ['SEEN1', 'SEEN2', 'SEEN3', 'SEEN4'],
  ),
  shows(
    'a description list after an article',
    `<article><p>${LONG}</p></article><dl><dt>SEEN1</dt><dd>SEEN2</dd></dl>`,
    ['SEEN1', 'SEEN2'],
  ),
  shows('details and summary', '<details><summary>SEEN1</summary><p>SEEN2</p></details>', ['SEEN1', 'SEEN2']),
  shows('code', '<p>Use <code>SEEN1</code></p><pre><code>if (a) {\n  SEEN2\n}</code></pre>', [
    '`SEEN1`',
    /\n\s+SEEN2\n/,
  ]),
  shows(
    'a quotation and a figure',
    '<blockquote>SEEN1</blockquote><figure><img src="/a.png" alt="SEEN2"><figcaption>SEEN3</figcaption></figure>',
    ['SEEN1', 'SEEN2', 'SEEN3'],
  ),
  shows('headings of all levels', [1, 2, 3, 4, 5, 6].map((n) => `<h${n}>SEEN${n}</h${n}>`).join(''), [
    'SEEN1',
    'SEEN2',
    'SEEN3',
    'SEEN4',
    'SEEN5',
    'SEEN6',
  ]),
  shows(
    'header, nav, aside and footer of a short page',
    '<header>SEEN1</header><nav>SEEN2</nav><main>SEEN3</main><aside>SEEN4</aside><footer>SEEN5</footer>',
    ['SEEN1', 'SEEN2', 'SEEN3', 'SEEN4', 'SEEN5'],
  ),
  shows('text without any element', 'SEEN1 and SEEN2', ['SEEN1 and SEEN2']),
  shows(
    'marks, deletions and small print',
    '<p><mark>SEEN1</mark> <del>SEEN2</del> <small>SEEN3</small> <sub>SEEN4</sub> <kbd>SEEN5</kbd></p>',
    ['SEEN1', 'SEEN2', 'SEEN3', 'SEEN4', 'SEEN5'],
  ),
  shows(
    'a time, data, meter and output',
    '<p><time datetime="2026-01-01">SEEN1</time> <data value="1">SEEN2</data> <output>SEEN3</output></p>',
    ['SEEN1', 'SEEN2', 'SEEN3'],
  ),
  shows('an open dialog', '<dialog open>SEEN1</dialog>', ['SEEN1']),
  shows(
    'a button and a legend',
    '<form><fieldset><legend>SEEN1</legend><label>SEEN2 <input></label><button>SEEN3</button></fieldset></form>',
    ['SEEN1', 'SEEN2', 'SEEN3'],
  ),
  shows('a select', '<select><option>SEEN1</option><option selected>SEEN2</option></select>', ['SEEN2']),
  shows('ruby', '<ruby>SEEN1<rt>SEEN2</rt></ruby>', ['SEEN1', 'SEEN2']),
  shows('Arabic from right to left', '<p dir="rtl">SEEN1 مرحبا بالعالم SEEN2</p>', [
    'SEEN1 مرحبا بالعالم SEEN2',
  ]),
  shows('Persian with joiners', '<p>می‌خواهم SEEN1</p>', ['می‌خواهم SEEN1']),
  shows('Hebrew with bdo', '<p><bdo dir="rtl">SEEN1 שלום</bdo></p>', ['SEEN1 שלום']),
  shows('emoji of several characters', '<p>👨‍👩‍👧 ❤️ 🏳️‍🌈 SEEN1</p>', ['👨‍👩‍👧 ❤️ 🏳️‍🌈 SEEN1']),
  shows('entities', '<p>SEEN1 &lt;tag&gt; &amp;amp; &#x2014; &euro; SEEN2</p>', [
    /SEEN1 (?:\\?<|&lt;)tag\\?(?:>|&gt;)/,
    'SEEN2',
  ]),
  shows('math', '<p>SEEN1 <math><mi>x</mi><mo>=</mo><mn>SEEN2</mn></math></p>', ['SEEN1', 'SEEN2']),
  shows('a pipe in a cell', '<table><tr><th>a</th></tr><tr><td>SEEN1|SEEN2</td></tr></table>', [
    /SEEN1\\?\|SEEN2/,
  ]),
  shows('unclosed elements', '<ul><li>SEEN1<li>SEEN2</ul><p>SEEN3<p>SEEN4', [
    'SEEN1',
    'SEEN2',
    'SEEN3',
    'SEEN4',
  ]),
  shows('misnested elements', '<b>SEEN1<i>SEEN2</b>SEEN3</i>', ['SEEN1', 'SEEN2', 'SEEN3']),
  shows(
    'a base',
    '<a href="x">SEEN1</a>',
    ['https://base.example/d/x'],
    '<base href="https://base.example/d/">',
  ),
  {
    name: 'text mode: a table and a list',
    mode: 'text',
    body: doc(
      '<table><tr><td>SEEN1</td><td>SEEN2</td></tr></table><ul><li>SEEN3</li></ul><dl><dt>SEEN4</dt><dd>SEEN5</dd></dl>',
    ),
    has: ['SEEN1', 'SEEN2', 'SEEN3', 'SEEN4', 'SEEN5'],
  },
];

const PNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  Buffer.alloc(300, 'a\0LEAK\x01', 'latin1'),
]);
const binary = (name: string, type: string, body: Buffer): PageCase => ({
  name: `binary: ${name}`,
  type,
  body,
  has: [],
  lacks: ['LEAK', '\0', '\u0001'],
});

const TYPES: readonly PageCase[] = [
  binary('a picture that says it is HTML', 'text/html', PNG),
  binary('a picture that says it is text', 'text/plain', PNG),
  binary('a picture that says it is JSON', 'application/json', PNG),
  binary('a picture that says nothing', '', PNG),
  binary('gzip that says it is HTML', 'text/html', gzipSync(Buffer.from('LEAK'.repeat(100)))),
  binary(
    'an archive that says it is HTML',
    'text/html',
    Buffer.concat([Buffer.from('PK\x03\x04\x14\0\0\0', 'latin1'), Buffer.alloc(200, 'LEAK\0\x02')]),
  ),
  binary(
    'a program that says it is text',
    'text/plain',
    Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01\0', 'latin1'), Buffer.alloc(200, 'LEAK\0\x02')]),
  ),
  {
    name: 'a page with one NUL is text',
    type: 'text/html',
    body: doc('<p>SEEN1\0SEEN2 and more words of a page</p>'),
    has: ['SEEN1', 'SEEN2'],
    lacks: ['\0'],
  },
  { name: 'HTML of no type', type: '', body: doc('<p>SEEN1</p>'), has: ['SEEN1'], lacks: ['<p>'] },
  { name: 'XHTML', type: 'application/xhtml+xml', body: doc('<p>SEEN1</p>'), has: ['SEEN1'], lacks: ['<p>'] },
  {
    name: 'XML',
    type: 'application/xml',
    body: '<?xml version="1.0"?><a><b>SEEN1</b></a>',
    has: ['<b>SEEN1</b>'],
  },
  {
    name: 'RSS',
    type: 'application/rss+xml',
    body: '<rss><channel><item><title>SEEN1</title></item></channel></rss>',
    has: ['SEEN1'],
  },
  {
    name: 'Atom',
    type: 'application/atom+xml',
    body: '<feed><entry><title>SEEN1</title></entry></feed>',
    has: ['SEEN1'],
  },
  { name: 'Markdown', type: 'text/markdown', body: '# SEEN1\n\n| a | b |', has: ['# SEEN1\n\n| a | b |'] },
  { name: 'CSV', type: 'text/csv', body: 'a;b\n1;SEEN1\n', has: ['1;SEEN1'] },
  { name: 'YAML', type: 'application/yaml', body: 'a:\n  b: SEEN1', has: ['a:\n  b: SEEN1'] },
  { name: 'JavaScript', type: 'text/javascript', body: 'const a = "SEEN1";', has: ['const a = "SEEN1";'] },
  {
    name: 'lines of JSON',
    type: 'application/x-ndjson',
    body: '{"a":1}\n{"a":"SEEN1"}',
    has: ['{"a":1}', 'SEEN1'],
  },
  {
    name: 'plain text with line ends of DOS',
    type: 'text/plain',
    body: 'SEEN1\r\nSEEN2\r\n',
    has: [/SEEN1\r?\nSEEN2/],
  },
  {
    name: 'UTF-16 with a mark',
    type: 'text/plain',
    body: Buffer.from('\ufeffSEEN1 ä', 'utf16le'),
    has: ['SEEN1 ä'],
  },
  {
    name: 'UTF-16 by its header',
    type: 'text/html; charset=utf-16le',
    body: Buffer.from(doc('<p>SEEN1 ä</p>'), 'utf16le'),
    has: ['SEEN1 ä'],
  },
  {
    name: 'Latin-1 by its header',
    type: 'text/plain; charset=iso-8859-1',
    body: Buffer.from('SEEN1 \xe4', 'latin1'),
    has: ['SEEN1 ä'],
  },
  {
    name: 'Latin-1 without a word',
    type: 'text/plain',
    body: Buffer.from('SEEN1 \xe4 x', 'latin1'),
    has: ['SEEN1 ä x'],
  },
  {
    name: 'Shift_JIS by its own word',
    type: 'text/html',
    body: Buffer.concat([
      Buffer.from('<meta charset=shift_jis><p>SEEN1 '),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
      Buffer.from('</p>'),
    ]),
    has: ['SEEN1 日本'],
  },
  {
    name: 'UTF-8 that is cut within a character',
    type: 'text/plain',
    body: Buffer.from('SEEN1 €').subarray(0, -1),
    has: ['SEEN1'],
  },
  { name: 'an empty page', type: 'text/html', body: doc(''), has: [] },
  {
    name: 'a page that is cut within a tag',
    type: 'text/html',
    body: '<html><body><p>SEEN1</p><p cla',
    has: ['SEEN1'],
  },
  {
    name: 'a page that is cut within a comment',
    type: 'text/html',
    body: '<html><body><p>SEEN1</p><!-- LEAK',
    has: ['SEEN1'],
    lacks: ['LEAK'],
  },
  {
    name: 'a page that is cut within a script',
    type: 'text/html',
    body: '<html><body><p>SEEN1</p><script>LEAK',
    has: ['SEEN1'],
    lacks: ['LEAK'],
  },
];

const json = (name: string, body: string, has: PageCase['has']): PageCase => ({
  name: `JSON: ${name}`,
  type: 'application/json',
  mode: 'json',
  body,
  has,
});
const JSONS: readonly PageCase[] = [
  json('a large integer', '{"id":12345678901234567890}', ['12345678901234567890']),
  json('a large negative integer', '[-9007199254740993]', ['-9007199254740993']),
  json('a long fraction', '{"a":0.12345678901234567890123}', ['0.12345678901234567890123']),
  json('a number beyond a double', '{"a":1e400}', ['1e400']),
  json('1.0 stays 1.0', '{"a":1.0,"b":1E5,"c":-0}', ['1.0', '1E5', '-0']),
  json('is laid out', '{"a":{"b":[1,2]}}', ['{\n  "a": {\n    "b": [']),
  json('the name __proto__', '{"__proto__":{"a":"SEEN1"}}', ['__proto__', 'SEEN1']),
  json('keys that are numbers stay in order', '{"b":1,"2":2,"1":3}', ['"b"', '"2"', '"1"']),
  json('the same key twice', '{"a":"SEEN1","a":"SEEN2"}', ['SEEN1', 'SEEN2']),
  json('escaped characters', '{"a":"\\u0053EEN1 \\" \\\\ \\n"}', [/SEEN1|\\u0053EEN1/]),
  json('none', '{"a":SEEN1}', ['{"a":SEEN1}']),
  json('deep lists', `${'['.repeat(3_000)}"SEEN1"${']'.repeat(3_000)}`, ['SEEN1']),
];

export const PAGES: readonly PageCase[] = [...INVISIBLES, ...STRUCTURE, ...TABLES, ...TYPES, ...JSONS];
