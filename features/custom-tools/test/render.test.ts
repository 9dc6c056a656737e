import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test, after } from 'node:test';
import fc from 'fast-check';
import type { Parameters, Property } from '../rules/check-parameters.ts';
import { renderCommand, type Rendered } from '../rules/render.ts';
import { readTemplate } from '../rules/template.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

interface Vector<Case> {
  readonly cases: readonly Case[];
}

async function vectors<Case>(name: string): Promise<readonly Case[]> {
  const text = await readFile(new URL(`../../../test/vectors/${name}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as Vector<Case>).cases;
}

function texts(...keys: readonly string[]): Parameters {
  const properties = Object.fromEntries(keys.map((key) => [key, { type: 'string' }]));
  return { type: 'object', properties, required: [...keys] };
}

function render(command: string, parameters: Parameters, args: Record<string, unknown>): Rendered {
  const read = readTemplate(command, parameters);
  assert.ok(read.ok, read.ok ? '' : read.problems.join('; '));
  return renderCommand(read.template, parameters, args);
}

function rendered(command: string, parameters: Parameters, args: Record<string, unknown>): string {
  const result = render(command, parameters, args);
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.command;
}

function refusal(command: string, parameters: Parameters, args: Record<string, unknown>): string {
  const result = render(command, parameters, args);
  assert.ok(!result.ok, result.ok ? result.command : '');
  return result.message;
}

// Read before the suites: a runner of many files may run the hooks of an asynchronous suite too early.
const TEMPLATES = await vectors<{ template: string; args: Record<string, string>; rendered: string | null }>(
  'custom-template',
);

describe('CU-2 what a template becomes', () => {
  for (const { template, args, rendered: expected } of TEMPLATES)
    test(`${template} with ${JSON.stringify(args)}`, () => {
      const read = readTemplate(template, texts(...Object.keys(args)));
      const result = read.ok ? renderCommand(read.template, texts(...Object.keys(args)), args) : null;
      assert.equal(result?.ok ? result.command : null, expected);
    });
});

interface Case {
  readonly id: string;
  readonly class: string;
  readonly template: string;
  readonly args: Record<string, unknown>;
  readonly extra_args?: Record<string, unknown>;
  readonly outcome: string;
  readonly expect_argv?: readonly string[];
}

const INJECTIONS = await vectors<Case>('template-injection');

describe('CU-2 every argument reaches the program as exactly one', () => {
  let folder: string;
  const cleaning: (() => Promise<void>)[] = [];
  before(async () => {
    folder = await temporaryFolder({ after: (fn) => void cleaning.push(fn as () => Promise<void>) });
    const print = `#!${process.execPath}\nprocess.stdout.write(JSON.stringify(process.argv.slice(2)));\n`;
    await writeFile(join(folder, 'argv'), print);
    await chmod(join(folder, 'argv'), 0o755);
  });
  after(async () => {
    for (const clean of cleaning) await clean();
  });

  function argvOf(command: string): unknown {
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    const { stdout, stderr, status } = spawnSync('bash', ['-c', command], { cwd: folder, env });
    assert.equal(status, 0, stderr.toString());
    return JSON.parse(stdout.toString());
  }

  for (const one of INJECTIONS)
    test(`${one.id} ${one.class}`, () => {
      const parameters = texts('name');
      const read = readTemplate(one.template, parameters);
      if (one.outcome === 'refused_at_registration_or_no_execution') {
        assert.ok(!read.ok);
        return;
      }
      assert.ok(read.ok);
      const result = renderCommand(read.template, parameters, { ...one.args, ...one.extra_args });
      if (one.outcome === 'single_argument') {
        assert.ok(result.ok, result.ok ? '' : result.message);
        assert.deepEqual(argvOf(result.command), one.expect_argv);
      } else if (one.class === 'proto_key') {
        // What is not a parameter does not affect the command; the call's arguments are refused earlier (EX-1).
        assert.equal(({} as { polluted?: unknown }).polluted, undefined);
      } else assert.ok(!result.ok, result.ok ? result.command : '');
    });

  test('whatever text it is', () => {
    const parameters = texts('a', 'b');
    const word = fc
      .oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom(...`'"\\$\`(){}[]<>|&;*?!#~ \n\t-=.`) }),
      )
      .filter((text) => !text.includes('\0') && text.isWellFormed());
    fc.assert(
      fc.property(word, word, (a, b) => {
        const command = rendered('argv --x={{.a}} -- {{.b}}{{.a}} end', parameters, { a, b });
        assert.deepEqual(argvOf(command), [`--x=${a}`, '--', b + a, 'end']);
      }),
      { numRuns: 25 },
    );
  });
});

describe('CU-2 arguments that are not one word', () => {
  test('a missing one is refused when it is required, else its word is left out or its default stands', () => {
    const parameters: Parameters = {
      type: 'object',
      properties: {
        domain: { type: 'string' },
        record_type: { type: 'string', enum: ['A', 'MX'] },
        server: { type: 'string', default: '@9.9.9.9' },
      },
      required: ['domain'],
    };
    const dig = 'dig {{.server}} +short {{.record_type}} {{.domain}}';
    assert.equal(
      rendered(dig, parameters, { domain: 'example.com' }),
      "dig '@9.9.9.9' +short  'example.com'",
    );
    assert.equal(
      rendered(dig, parameters, { domain: 'example.com', record_type: 'MX', server: '@1.1.1.1' }),
      "dig '@1.1.1.1' +short 'MX' 'example.com'",
    );
    assert.equal(refusal(dig, parameters, { record_type: 'A' }), 'is required');
  });

  test('numbers and booleans are words; lists, objects and what is not finite are none', () => {
    const parameters: Parameters = {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
    };
    assert.equal(rendered('head {{.n}}', parameters, { n: 5 }), "head '5'");
    assert.equal(rendered('head {{.n}}', parameters, { n: false }), "head 'false'");
    for (const n of [[1], { a: 1 }, Number.NaN, Number.POSITIVE_INFINITY])
      assert.match(refusal('head {{.n}}', parameters, { n }), /one text, number or boolean/);
  });

  test('what would be an option is refused, but behind -- and where the schema speaks of it', () => {
    const lines = (n: Property): Parameters => ({ type: 'object', properties: { n }, required: ['n'] });
    assert.match(refusal('sort {{.n}}', texts('n'), { n: '-o/etc/x' }), /begins with -/);
    assert.match(refusal('sort {{.a}}{{.n}}', texts('a', 'n'), { a: '', n: '-o/x' }), /begins with -/);
    assert.equal(rendered('sort -- {{.n}}', texts('n'), { n: '-o' }), "sort -- '-o'");
    assert.equal(rendered('sort --key={{.n}}', texts('n'), { n: '-o' }), "sort --key='-o'");
    assert.match(refusal('env -- sort {{.n}}', texts('n'), { n: '-o' }), /begins with -/);
    assert.equal(rendered('sort {{.n}}', lines({ enum: ['-r', '-n'] }), { n: '-r' }), "sort '-r'");
    assert.equal(rendered('head {{.n}}', lines({ type: 'integer', minimum: -5 }), { n: -3 }), "head '-3'");
    assert.match(refusal('head {{.n}}', lines({ type: 'integer' }), { n: -3 }), /begins with -/);
  });

  test('what would make the program read a file is refused, but where the author asks for one', () => {
    for (const [template, n] of [
      ['timeout 5 curl {{.n}}', '@/etc/passwd'],
      ['curl -d{{.n}} x', '@/etc/passwd'],
      ['curl --data-urlencode {{.n}} x', 'a@/etc/passwd'],
      ['curl -F {{.n}} x', 'a[0]=@/etc/passwd'],
      ['curl -F{{.n}} x', 'a=@/etc/passwd'],
      ['curl -F {{.n}}={{.n}} x', '@/etc/passwd'],
      ['curl -F a={{.n}} x', 'b;headers=@/etc/passwd'],
      ['http POST x {{.n}}', 'a@/etc/passwd'],
      ['http POST x {{.n}}', 'a==@/etc/passwd'],
      ['gh api x --field={{.n}}', 'a=@/etc/passwd'],
      ['gh api x -F {{.n}}', 'a=@/etc/passwd'],
      ['aws lambda invoke --payload={{.n}}', 'fileb:///etc/passwd'],
      ['curl -d {{.n}} x', '@/etc/passwd'],
      ['curl -F a={{.n}} x', '@/etc/passwd'],
      ['curl -F a={{.n}} x', '</etc/passwd'],
      ['curl -F {{.n}} x', 'a=@/etc/passwd'],
      ['http POST x a={{.n}}', '@/etc/passwd'],
      ['http POST x {{.n}}', 'a:=@/etc/passwd'],
      ['gcc -c {{.n}}', '@/etc/passwd'],
      ['aws s3api put-object --body {{.n}}', 'fileb:///etc/passwd'],
    ] as const)
      assert.match(refusal(template, texts('n'), { n }), /would read a file/, template);
    for (const [template, n] of [
      ['curl -d a={{.n}} x', 'me@x.test'],
      ['curl -d a={{.n}} x', 'size=<5'],
      ['curl -d {{.n}} x', '<b>'],
      ['curl -d {{.n}} x', '{"a":"http://x.test"}'],
      ['curl {{.n}}', 'http://[::1]:80/?q=@ann'],
      ['curl --data-urlencode a={{.n}} x', 'me@x.test'],
      ['http POST x a={{.n}}', 'me@x.test'],
      ['gh issue comment 1 --body {{.n}}', '@ann, cc:@bob'],
      ['gh api x -f body={{.n}}', '@ann'],
      ['echo {{.n}}', '@all'],
      ['curl --data-binary @{{.n}} x', 'a.json'],
      ['curl -F file=@{{.n}} x', 'a.json'],
      ['aws lambda invoke --payload fileb://{{.n}}', 'a.json'],
      ['gcc @{{.n}}', 'a.txt'],
    ] as const)
      assert.equal(rendered(template, texts('n'), { n }), template.replace('{{.n}}', `'${n}'`));
    const { properties } = texts('n');
    const chosen: Parameters = {
      type: 'object',
      properties: { ...properties, option: { enum: ['-F', '-d'] } },
      required: ['option', 'n'],
    };
    assert.match(refusal('curl {{.option}} {{.n}}', chosen, { option: '-F', n: 'a=@/x' }), /would read/);
    assert.match(refusal('curl -d {{.a}}@{{.n}}', texts('a', 'n'), { a: '', n: '/x' }), /would read/);
  });

  test('what no command line takes is refused in words', () => {
    assert.match(refusal('echo {{.a}}', texts('a'), { a: 'a\0b' }), /NUL/);
    assert.match(refusal('echo {{.a}}', texts('a'), { a: '\ud800' }), /Unicode/);
    assert.match(refusal('echo {{.a}}', texts('a'), { a: 'é'.repeat(70_000) }), /too long/);
    assert.match(refusal('echo {{.a}} {{.a}}', texts('a'), { a: 'a'.repeat(70_000) }), /too long/);
  });
});
