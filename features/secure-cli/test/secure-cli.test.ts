import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchesPattern, patternProblem } from '#policy/deny-pattern.ts';
import { checkArguments } from '../rules/check-arguments.ts';
import { findSecured } from '../rules/find-secured.ts';
import { SECURE_CLI_PRESETS } from '../rules/presets.ts';
import { readCommandLine } from '../rules/read-command-line.ts';
import type { KeywordRule } from '../rules/secure-cli.ts';
import vectors from '#test/vectors/credentialed-exec.json' with { type: 'json' };

function check(program: string, args: readonly string[], keyword_allowlist: readonly KeywordRule[] = []) {
  const preset = SECURE_CLI_PRESETS[program];
  assert.ok(preset, program);
  return checkArguments({ ...preset, keyword_allowlist }, args, matchesPattern);
}

describe('SH-4 a command line without a shell', () => {
  for (const { command, count } of vectors.operators)
    test(`${command} has ${count} operators`, () => {
      assert.equal(readCommandLine(command).operators.length, count);
    });

  test('quotes, escapes and empty words are read as a shell would, and nothing is expanded', () => {
    const { words, operators, isOpen } = readCommandLine(
      `gh  pr create --title 'it''s "so"' --body "a \\"b\\" \\$c \\n" '' a\\ b $HOME *.ts ~`,
    );
    assert.deepEqual(words.slice(3), [
      '--title',
      'its "so"',
      '--body',
      'a "b" $c \\n',
      '',
      'a b',
      '$HOME',
      '*.ts',
      '~',
    ]);
    assert.deepEqual([operators, isOpen], [[], false]);
    assert.equal(readCommandLine(`gh 'open`).isOpen, true);
    assert.equal(readCommandLine('gh x 2>&1').operators.length, 1);
    assert.equal(readCommandLine('gh x\nrm y').operators.length, 1);
  });

  test('lines joined by a backslash are one, and breaks at the end begin no other', () => {
    for (const line of [
      'gh pr \\\n  list',
      'gh pr li\\\nst',
      'gh "p\\\nr" list',
      'gh pr list\r\n',
      'gh pr list \\\n',
    ])
      assert.deepEqual(readCommandLine(line), {
        words: ['gh', 'pr', 'list'],
        operators: [],
        isOpen: false,
      });
    assert.deepEqual(readCommandLine("gh 'a\\\nb'").words, ['gh', 'a\\\nb']);
  });

  test('a variable in braces and a carriage return would mean something to a shell', () => {
    for (const line of ['gh api ${HOME}', 'gh api a${b}', 'gh x\ry']) {
      assert.equal(readCommandLine(line).operators.length, 1, line);
      assert.equal(readCommandLine(`gh '${line}'`).operators.length, 0, line);
    }
  });

  test('a hostile line of 32,000 characters is read in one pass', () => {
    for (const piece of ['`', '"', "'", '\\', '$(', '2>', 'a '])
      assert.ok(readCommandLine(piece.repeat(32_000 / piece.length)).words.length >= 0);
  });
});

describe('SH-4 deny_args and deny_verbose of the presets', () => {
  for (const { args, deny } of [...vectors.deny_gh, ...vectors.verbose_gh])
    test(`gh ${args.join(' ')} is ${deny ? 'refused' : 'allowed'}`, () => {
      assert.equal(check('gh', args).ok, !deny);
    });
  for (const [program, arg, deny] of vectors.verbose_other as [string, string, boolean][])
    test(`${program} ${arg} is ${deny ? 'refused' : 'allowed'}`, () => {
      assert.equal(check(program, [arg]).ok, !deny);
    });

  for (const [program, line, isAllowed] of [
    ['gh', '-R x/y secret set A', false],
    ['gh', 'repo -R x/y delete --yes', false],
    ['gh', 'pr view 12 --json title', true],
    ['gcloud', '--verbosity debug compute instances list', false],
    ['gcloud', 'services --project p disable x', false],
    ['gcloud', 'services list', true],
    ['aws', 'sts assume-role --role-arn x', false],
    ['aws', 'ec2 terminate-instances --instance-ids i-1', false],
    ['aws', 'ec2 describe-instances', true],
    ['aws', 'iam list-users', false],
    ['kubectl', 'delete -n x namespace y', false],
    ['kubectl', 'delete ns/y', false],
    ['kubectl', 'delete node/y', false],
    ['kubectl', 'delete pod,ns y', false],
    ['kubectl', 'delete nodes,pods --all', false],
    ['kubectl', 'delete namespaces.v1. y', false],
    ['kubectl', 'delete NS y', false],
    ['kubectl', 'delete pod,Node y', false],
    ['kubectl', 'delete Pod y', true],
    ['kubectl', 'delete pod y', true],
    ['kubectl', 'delete pod,service namespace-x', true],
    ['kubectl', 'drain node-1', false],
    ['terraform', 'destroy', false],
    ['terraform', 'apply -destroy -auto-approve', false],
    ['terraform', 'plan', true],
    ['terraform', '-chdir=x force-unlock 1', false],
  ] as const)
    test(`${program} ${line} is ${isAllowed ? 'allowed' : 'refused'}`, () => {
      assert.equal(check(program, line.split(' ')).ok, isAllowed);
    });

  test('deny_verbose holds from the beginning of an argument, so -v is not found in --version', () => {
    const rules = { deny_args: [], deny_verbose: ['--verbose', '-v'], keyword_allowlist: [] };
    const isAllowed = (...args: string[]): boolean => checkArguments(rules, args, matchesPattern).ok;
    for (const args of [['--version'], ['pr', 'list', '--search', 'dev-v'], ['api', 'x--verbose']])
      assert.equal(isAllowed(...args), true, args.join(' '));
    for (const args of [['-v'], ['api', '-vv', 'x'], ['-v=1'], ['--verbose=true']])
      assert.equal(isAllowed(...args), false, args.join(' '));
  });

  test('a pattern that would take a backtracking engine for ever takes no time here', () => {
    const args = ['a'.repeat(30_000)];
    const rules = {
      deny_args: ['^(a+)+$x', '(a|aa)+b', '(.*)*=(.*)*!'],
      deny_verbose: [],
      keyword_allowlist: [],
    };
    assert.equal(checkArguments(rules, args, matchesPattern).ok, true);
    for (const refused of ['(a', '(?=a)b', '(a)\\1', 'x'.repeat(501)])
      assert.ok(patternProblem(refused) !== undefined, refused);
  });
});

describe('SH-4 keyword_allowlist', () => {
  const cases = vectors.keyword_allowlist;
  const rule = cases.find((each) => each.rule)?.rule as KeywordRule;

  test('a word in a title is excused and told; the command itself is not', () => {
    for (const { args, expect } of cases) {
      const found = check('gh', args, [rule]);
      assert.equal(found.ok, expect.startsWith('allowed'), args.join(' '));
      if (found.ok) assert.equal(found.excused.length, 1);
    }
    assert.equal(check('gh', cases[0]?.args ?? []).ok, false, 'without the rule');
  });

  test('all rules of a subcommand hold, each for its own options', () => {
    const title: KeywordRule = { subcommands: ['issue create'], args: ['--title'], keywords: ['auth'] };
    const args = ['issue', 'create', '--body', 'secret x', '--title=auth y'];
    const found = check('gh', args, [rule, title]);
    assert.ok(found.ok);
    assert.deepEqual(found.excused, [
      { option: '--body', keyword: 'secret' },
      { option: '--title', keyword: 'auth' },
    ]);
    assert.equal(check('gh', ['issue', 'create', '--body', 'auth x'], [rule, title]).ok, false);
  });

  test('only the words listed, only in the options listed, only as whole words', () => {
    assert.equal(check('gh', ['issue', 'create', '--body', 'secret auth login'], [rule]).ok, false);
    assert.equal(check('gh', ['issue', 'create', '--label', 'secret'], [rule]).ok, false);
    assert.equal(check('gh', ['-R', 'x', 'issue', 'create', '--body', 'secret'], [rule]).ok, false);
    const joined = check('gh', ['issue', 'create', '--body', 'secretauth'], [rule]);
    assert.deepEqual(joined, { ok: true, excused: [] });
  });
});

describe('SH-4 the gate before plain commands', () => {
  for (const { command, expect } of vectors.gate)
    test(`${command}: ${expect}`, () => {
      const found = findSecured(command, new Set(['gh']));
      assert.deepEqual(found, expected(expect));
    });

  for (const command of [
    '/usr/bin/gh api',
    './gh x',
    'timeout 5 gh x',
    'true && gh x',
    'echo $(gh x)',
    'xargs gh < f',
    'jobs -x gh x',
    "mapfile -C 'gh x' -c 1 a < f",
    "git -c alias.a='!gh x' a",
    'git bisect run gh x',
  ])
    test(`${command} is seen`, () => {
      assert.deepEqual(findSecured(command, new Set(['gh'])), { kind: 'program', name: 'gh' });
    });

  test('a mention is none, and without configured programs nothing is looked at', () => {
    assert.equal(findSecured(`echo 'gh auth' gh`, new Set(['gh'])), undefined);
    assert.equal(findSecured('gh auth', new Set()), undefined);
  });

  function expected(words: string) {
    if (words === 'runs') return undefined;
    return words === 'grant required' ? { kind: 'program', name: 'gh' } : { kind: 'too_deep' };
  }
});
