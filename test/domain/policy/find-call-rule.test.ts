import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { commandWords, expandCommands } from '@tempoclaw/shell-judge';
import { matchGlob } from '@tempoclaw/shell-judge/glob';
import fc from 'fast-check';
import type { AskRule, CallRule, ToolPolicy } from '#domain/agent.ts';
import { type CallToMatch, findCallRule } from '#domain/policy/find-call-rule.ts';

const call: CallToMatch = {
  tool: { name: 'web_fetch', aliases: ['fetch'], group: 'web' },
  args: { url: 'https://bank.test/pay', headers: { a: 1 }, count: 3 },
  agent: 'researcher',
  user: 'ann',
  channel: 'slack',
};

function ruleFor(policy: ToolPolicy, overrides: Partial<CallToMatch> = {}): CallRule | undefined {
  return findCallRule({ agent: policy }, { ...call, ...overrides })?.rule;
}

describe('AP-5 any tool may be put to a person, by tool, argument, agent, user and channel', () => {
  const matching: AskRule[] = [
    { tool: 'web_fetch' },
    { tool: 'fetch' },
    { tool: 'group:web' },
    { tool: 'web_*', args: { url: '*bank.test*' } },
    { tool: '*', args: { count: '3', headers: '{"a":1}' } },
    { tool: '*', agent: 'res*', user: 'ann', channel: 'sl?ck' },
  ];
  for (const rule of matching)
    test(`${JSON.stringify(rule)} matches`, () =>
      assert.deepEqual(ruleFor({ ask: [rule] }), { ...rule, decision: 'ask' }));

  const others: AskRule[] = [
    { tool: 'web_search' },
    { tool: 'group:fs' },
    { tool: '*', args: { url: 'http://*' } },
    { tool: '*', args: { body: '*' } },
    { tool: '*', args: { constructor: '*' } },
    { tool: '*', agent: 'main' },
    { tool: '*', user: 'bob' },
    { tool: '*', channel: 'telegram' },
  ];
  for (const rule of others)
    test(`${JSON.stringify(rule)} does not`, () => assert.equal(ruleFor({ ask: [rule] }), undefined));

  test('a rule for a user or a channel does not hold for a call without one', () => {
    assert.equal(ruleFor({ ask: [{ tool: '*', user: '*' }] }, { user: null }), undefined);
    assert.equal(ruleFor({ ask: [{ tool: '*', channel: '*' }] }, { channel: null }), undefined);
  });
});

describe('AP-5 which rule decides', () => {
  const allow: CallRule = { tool: 'web_*', decision: 'allow' };
  const ask: CallRule = { tool: '*', decision: 'ask', reason: 'all' };
  const deny: CallRule = { tool: 'group:web', decision: 'deny' };

  test('in a list the first that matches; those that only ask come after it', () => {
    assert.equal(ruleFor({ rules: [allow, ask, deny] }), allow);
    assert.equal(ruleFor({ rules: [deny, allow] }), deny);
    assert.equal(ruleFor({ rules: [allow], ask: [{ tool: '*' }] }), allow);
    const [first, second] = [
      { tool: '*', reason: '1' },
      { tool: '*', reason: '2' },
    ] as const;
    assert.deepEqual(ruleFor({ ask: [first, second] }), { ...first, decision: 'ask' });
  });

  test('of the layers the strictest, and the outermost of equals: none undoes another one’s rule', () => {
    const found = (global: CallRule, tenant: CallRule, agent: CallRule) =>
      findCallRule(
        { global: { rules: [global] }, tenant: { rules: [tenant] }, agent: { rules: [agent] } },
        call,
      );
    assert.equal(found(allow, allow, deny)?.layer, 'agent');
    assert.equal(found(deny, ask, allow)?.layer, 'global');
    assert.equal(found(allow, ask, { ...ask })?.layer, 'tenant');
    assert.equal(findCallRule({}, call), undefined);
  });
});

describe('AP-5 rules on a command', () => {
  const commandsOf = (command: string) => commandWords(expandCommands(command)).map((words) => [...words]);
  const found = (command: string, commands: string[][], rule: CallRule) =>
    ruleFor({ rules: [rule] }, { args: { command }, commands });
  const push: CallRule = { tool: '*', args: { command: 'git push*' }, decision: 'deny' };

  test('what asks or denies sees each command of the text, whatever stands before it or is quoted', () => {
    assert.ok(found('git push', [['git', 'push']], push));
    assert.ok(
      found(
        "cd a; git 'pu'sh x",
        [
          ['cd', 'a'],
          ['git', 'push', 'x'],
        ],
        push,
      ),
    );
    assert.equal(found("echo 'git push'", [['echo', 'git push']], push), undefined);
  });

  const speaksOf = (command: string, rule: CallRule): boolean =>
    found(command, commandsOf(command), rule) !== undefined;

  for (const command of [
    '/usr/bin/git push',
    'git -C . push',
    '/usr/bin/git -C . push origin',
    'git --no-pager push',
    'git -P push',
    'git --git-dir x --work-tree y push',
    'git --git-dir=x push',
    'git -c a=b -c c=d push',
    'git --exec-path=x push',
    '/usr/lib/git-core/git-push origin',
    'jobs -x git push',
    'jobs -x -- git push',
    'builtin jobs -x git push',
    'command git push',
    'exec -a x git push',
    'env A=b git -C x push',
    'env -S "git push"',
    'nice -n 5 git push',
    'timeout -k 5 5 git --no-pager push',
    'xargs git push < x',
    'find . -exec git push {} \\;',
    'sh -c "git -C x push"',
    'eval git push',
    "trap 'git push' EXIT",
    "mapfile -C 'git push' -c 1 x < y",
    'compgen -C "git push"',
    'git bisect run git push',
    "git submodule foreach 'git push'",
    'git rebase -x "git push" HEAD~2',
    'git rebase --exec="git push" HEAD~2',
    "git -c alias.x='!git push' x",
    'git -c alias.x=push x',
    'coproc git push',
    'time git push',
    '! git push',
    'if true; then git push; fi',
    'f() { git push; }; f',
    'x=push; git $x',
    'for x in pull push; do git $x; done',
    'echo `git push`',
    'cat <(git push)',
  ])
    test(`git push* speaks of ${command}`, () => assert.ok(speaksOf(command, push)));

  for (const command of [
    'git log --grep="git push"',
    'git -C push status',
    'git --git-dir push.git log',
    'git commit -m "git push"',
    'git branch push',
    'echo git push',
    'grep -rn "git push" docs',
    'cat git-push.md',
    './gitpush',
    'git stash push -m x',
  ])
    test(`git push* does not speak of ${command}`, () => assert.ok(!speaksOf(command, push)));

  test('options of other programs may have a value or none: a rule that denies sees both', () => {
    const remove: CallRule = { tool: '*', args: { command: 'kubectl delete*' }, decision: 'deny' };
    for (const command of [
      'kubectl -n prod delete pod x',
      '/usr/local/bin/kubectl --namespace=prod delete x',
      'kubectl -v 5 --context c delete x',
    ])
      assert.ok(speaksOf(command, remove), command);
    assert.ok(!speaksOf('kubectl get pods', remove));
  });

  test('a rule that allows speaks of a command as it is written alone', () => {
    const status: CallRule = { tool: '*', args: { command: 'git status*' }, decision: 'allow' };
    assert.ok(speaksOf('git status -s', status));
    for (const command of ['git -c core.fsmonitor=x status', './git status', 'jobs -x git status'])
      assert.ok(!speaksOf(command, status), command);
  });

  test('a long line hides no subcommand', () => {
    const line = `kubectl ${'-n x '.repeat(3_000)}delete pod`;
    const remove: CallRule = { tool: '*', args: { command: 'kubectl delete*' }, decision: 'deny' };
    assert.ok(speaksOf(line, remove));
  });

  test('what allows must speak of every command of the text', () => {
    const status: CallRule = { tool: '*', args: { command: 'git *' }, decision: 'allow' };
    assert.ok(
      found(
        'git log; git diff',
        [
          ['git', 'log'],
          ['git', 'diff'],
        ],
        status,
      ),
    );
    assert.equal(found('git log; id', [['git', 'log'], ['id']], status), undefined);
    assert.equal(found('git log', [], status), undefined);
  });
});

describe('PO-2 globs', () => {
  const { glob } = JSON.parse(
    readFileSync(new URL('../../vectors/clawft.json', import.meta.url), 'utf8'),
  ) as { glob: [string, string, boolean][] };
  for (const [pattern, text, expected] of glob)
    test(`${pattern} on "${text}" is ${expected}`, () => assert.equal(matchGlob(pattern, text), expected));

  test('they match what a regular expression of the same meaning matches', () => {
    const character = fc.constantFrom('a', 'b', '.', '*', '?', '\n', '🙂');
    const text = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(''));
    fc.assert(
      fc.property(text, text, (pattern, subject) => {
        const source = pattern.replaceAll('.', '\\.').replaceAll('*', '[^]*').replaceAll('?', '[^]');
        assert.equal(matchGlob(pattern, subject), new RegExp(`^${source}$`, 'u').test(subject));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('PO-5 rules that look back', () => {
  const fetched = { tool: { name: 'web_fetch', aliases: ['fetch'], group: 'web' }, call: 'call_1' };
  const issue = { tool: { name: 'mcp_gh__issue', mcpServer: 'gh' }, call: 'call_2' };
  const find = (after: string[], used: CallToMatch['used']) =>
    findCallRule({ agent: { ask: [{ tool: 'exec', after }] } }, { ...call, tool: { name: 'exec' }, used });

  for (const after of [
    ['web_fetch'],
    ['fetch'],
    ['web_*'],
    ['group:web'],
    ['group:native'],
    ['x', 'web_fetch'],
  ])
    test(`after ${after.join(' or ')} holds once it has been read, and names the call`, () => {
      assert.equal(find(after, [issue, fetched])?.after?.call, 'call_1');
      assert.equal(find(after, [issue]), undefined);
      assert.equal(find(after, []), undefined);
      assert.equal(find(after, undefined), undefined);
    });

  test('tools of MCP servers by name, by group and by server', () => {
    for (const after of ['mcp_*', 'group:mcp', 'group:mcp:g*'])
      assert.equal(find([after], [fetched, issue])?.after?.call, 'call_2', after);
    assert.equal(find(['group:mcp:jira'], [issue]), undefined);
  });

  test('all else that the rule says must match as well, and a rule before it may spare the call', () => {
    const policy: ToolPolicy = {
      rules: [
        { tool: 'web_fetch', args: { url: 'https://docs.*' }, decision: 'allow' },
        { tool: 'web_*', after: ['group:web'], args: { url: 'https:*' }, decision: 'deny' },
      ],
    };
    const url = (text: string) => ruleFor(policy, { args: { url: text }, used: [fetched] })?.decision;
    assert.deepEqual(
      [url('https://docs.x'), url('https://x'), url('http://x')],
      ['allow', 'deny', undefined],
    );
  });
});

describe('PO-5 rules of a profile', () => {
  const used = [{ tool: { name: 'web_fetch', group: 'web' }, call: 'call_1' }];
  const acting = { ...call, tool: { name: 'exec', group: 'runtime' }, args: {}, used };

  test('come after the policy’s own, so that these make exceptions, and no other layer undoes them', () => {
    const careful: ToolPolicy = { profile: 'careful' };
    assert.equal(findCallRule({ global: careful }, acting)?.rule.decision, 'ask');
    const excepted: ToolPolicy = { ...careful, rules: [{ tool: 'exec', decision: 'allow' }] };
    assert.equal(findCallRule({ global: excepted }, acting)?.rule.decision, 'allow');
    assert.equal(findCallRule({ global: careful, agent: excepted }, acting)?.layer, 'global');
    assert.equal(findCallRule({ global: { profile: 'constructor' } }, acting), undefined);
  });

  test('are those of the profile that holds for the model’s provider', () => {
    const policy: ToolPolicy = { profile: 'careful', by_provider: { local: { profile: 'full' } } };
    const provider = (name: string) => findCallRule({ global: policy }, { ...acting, provider: name });
    assert.equal(provider('openai')?.rule.decision, 'ask');
    assert.equal(provider('local'), undefined);
  });
});
