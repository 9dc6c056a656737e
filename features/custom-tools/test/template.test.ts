import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Parameters } from '../rules/check-parameters.ts';
import { keysOf, readTemplate } from '../rules/template.ts';

const parameters: Parameters = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'string' }, maybe: { type: 'string' } },
  required: ['a', 'b'],
};

function problemsOf(command: string): string {
  const read = readTemplate(command, parameters);
  return read.ok ? '' : read.problems.join('; ');
}

describe('CU-2 where a placeholder may stand', () => {
  const good = [
    'dig +short {{.a}} {{.b}}',
    'prog --name={{.a}} {{.b}}:{{.a}} ./{{.b}}',
    'cat {{.a}} | grep -- {{.b}} | wc -l',
    'x=$(grep -- {{.a}} file); echo "found: $x"',
    'if test -n {{.a}}; then echo {{.b}} && true; fi',
    'timeout 5 env LANG=C sort {{.a}}',
    'sh -c \'echo "$1"\' sh {{.a}}',
    "python3 -c 'print(1)' {{.a}}",
    'python3 script.py {{.a}}',
    "awk '{print $1}' {{.a}}",
    'find . -name {{.a}} -print',
    'echo {{ .a }} {{.a}}',
    "docker ps --format '{''{.Names}}' --filter {{.a}}",
    'ssh build.example.com uptime {{.a}}'.replace(' {{.a}}', ''),
    '( cd sub && ls {{.a}} )',
  ];
  for (const command of good) test(`allowed: ${command}`, () => assert.equal(problemsOf(command), ''));

  const refused: readonly (readonly [string, RegExp])[] = [
    ['echo "{{.a}}"', /outside of quotes/],
    ["echo '{{.a}}'", /outside of quotes/],
    ["echo $'{{.a}}'", /outside of quotes/],
    ['echo "x $(cat {{.a}}) y"', /outside of quotes/],
    ['echo `cat {{.a}}`', /backtick/],
    ['cat <<EOF\n{{.a}}\nEOF', /here-documents/],
    ['cat <<< {{.a}}', /redirections/],
    ['echo x > {{.a}}', /redirections/],
    ['A={{.a}} prog', /assignments/],
    ['a=({{.a}} b)', /assignments/],
    ['echo $(( {{.a}} + 1 ))', /joined only with/],
    ['echo ${x:-{{.a}}}', /./],
    ['[[ -n {{.a}} ]]', /./],
    ['for x in {{.a}}; do echo; done', /./],
    ['echo x # {{.a}}', /./],
    ['echo \\{{.a}}', /./],
    ['echo pre"fix"{{.a}}', /joined only with/],
    ['echo $HOME/{{.a}}', /joined only with/],
    ['echo ~/{{.a}}', /joined only with/],
    ['echo {{{.a}},x}', /joined only with/],
    ['echo *{{.a}}', /joined only with/],
    ['{{.a}} --version', /choose the program/],
    ['./{{.a}}', /choose the program/],
    ['timeout 5 {{.a}}', /choose the program/],
    ['env X=1 {{.a}}', /choose the program/],
    ['find . -exec {{.a}} {} +', /choose the program/],
    ['eval echo {{.a}}', /evaluated by eval/],
    ['. {{.a}}', /evaluated by \./],
    ['export {{.a}}', /evaluated by export/],
    ['[ -v {{.a}} ]', /evaluated by \[/],
    ['printf -v {{.a}} x', /evaluated by printf/],
    ['jobs -x {{.a}}', /evaluated by jobs/],
    ['echo {{.a}} | sh', /read as shell text by sh/],
    ['echo {{.a}} | timeout 5 bash', /read as shell text by bash/],
    ['echo {{.a}} | xargs -I% env sh -c %', /read as shell text by sh/],
    ['echo {{.a}} | parallel', /read as shell text by parallel/],
    ['timeout 5 ssh build.example.com {{.a}}', /read as shell text by ssh/],
    ['sh -c {{.a}}', /code or options of sh/],
    ['bash {{.a}}', /code or options of bash/],
    ['xargs sh -c {{.a}}', /code or options of sh/],
    ['python3 -c {{.a}}', /code or options of python3/],
    ['awk {{.a}} file', /code or options of awk/],
    ['sed -e {{.a}} file', /code or options of sed/],
    ['ssh build.example.com {{.a}}', /read as shell text by ssh/],
    ['watch {{.a}}', /./],
    ['echo {{.nobody}}', /nobody\}\} is not among the parameters/],
    ['prog --name={{.maybe}}', /part of a word, so it must be required/],
    ['prog --name {{.maybe}} x', /follows the option --name/],
    ['echo "unclosed {{.a}}', /./],
    ['echo {{.a}\r{.b}}', /control characters/],
    ['  ', /empty/],
    [`echo ${'{{.a}} '.repeat(101)}`, /more than 100 placeholders/],
    [`echo ${'x'.repeat(16_384)}`, /at most 16384/],
  ];
  for (const [command, message] of refused)
    test(`refused: ${JSON.stringify(command.slice(0, 60))}`, () =>
      assert.match(problemsOf(command), message));

  test('{{key}} without the dot counts when key is a parameter, and is text when not', () => {
    const read = readTemplate('echo {{a}} {{other}}', parameters);
    assert.ok(read.ok);
    assert.deepEqual(
      read.template.placeholders.map(({ key }) => key),
      ['a'],
    );
    assert.deepEqual(keysOf('echo {{.x}} {{.y}} {{.x}} {{z}}'), ['x', 'y']);
  });

  test('the program that gets an argument is known behind wrappers', () => {
    const read = readTemplate('timeout 5 curl -- {{.a}}', parameters);
    assert.ok(read.ok);
    assert.deepEqual(read.template.placeholders, [
      { key: 'a', isWord: true, head: '', written: '', previous: '--', isAfterDashes: true, program: 'curl' },
    ]);
  });
});
