import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { formatEntry } from '@tempoclaw/shell-judge';
import { SHELL_SWITCHES } from '@tempoclaw/shell-judge/switches';
import type { AgentConfig, ExecPolicy, ToolPolicy } from '#domain/agent.ts';
import { agentConfigSchema } from '#domain/schema/agent.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { type CallRules, createCallRules, type RuleScope, type Verdict } from '#policy/call-rules.ts';
import { type Catalog, loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';

const agent: AgentConfig = { key: 'main', type: 'open', model: 'rehearsal/echo' };
const resolveProgram = (name: string) => ({ path: `/usr/bin/${name}` });
const NPM_PUBLISH = formatEntry({ path: '/usr/bin/npm', args: ['publish'] });
const scope = { agent, context: {} };
let catalog: Catalog;

before(async () => {
  catalog = await loadCatalog(FEATURES);
});

function judge(
  tool: string,
  args: Record<string, unknown>,
  input: Partial<AgentConfig> = {},
  more: {
    tools?: ToolPolicy;
    context?: MessageContext;
    allowlist?: { tool: string; pattern: string }[];
    used?: UsedTools;
  } = {},
): Verdict {
  const found = catalog.find(tool);
  assert.ok(found);
  const rules: CallRules = createCallRules({ catalog, tools: more.tools ?? {}, resolveProgram });
  const context = more.context ?? {};
  return rules.judge({
    agent: { ...agent, ...input },
    user: null,
    context,
    tool: found.tool,
    args,
    allowlist: more.allowlist ?? [],
    used: more.used ?? {},
  });
}

describe('PO-3 a call is judged by the tools that the agent was given', () => {
  test('a denied tool is refused when it is called, by name, glob, group or alias', () => {
    for (const pattern of ['exec', 'ex*', 'group:runtime', 'bash', 'exec_shell'])
      assert.equal(judge('exec', { command: 'ls' }, { tools: { deny: [pattern] } }).verdict, 'deny', pattern);
  });

  test('a rule that names a shell, however other systems call it, is about all tools that run commands', () => {
    for (const pattern of ['exec', 'bash', 'exec_shell'])
      for (const tools of [{ deny: [pattern] }, { rules: [{ tool: pattern, decision: 'deny' as const }] }])
        assert.equal(judge('spawn_process', { command: 'ls' }, { tools }).verdict, 'deny', pattern);
  });

  test('an allow list leaves out all others, and a request may only narrow', () => {
    const tools = { allow: ['group:fs'] };
    assert.equal(judge('read_file', { path: 'a' }, { tools }).verdict, 'allow');
    assert.equal(judge('exec', { command: 'ls' }, { tools }).verdict, 'deny');
    assert.equal(
      judge('exec', { command: 'ls' }, { tools }, { context: { allowed_tools: ['exec'] } }).verdict,
      'deny',
    );
    assert.equal(
      judge('write_file', { path: 'a' }, { tools }, { context: { allowed_tools: ['read_file'] } }).verdict,
      'deny',
    );
  });

  test('what is offered to the model is what would not be denied', () => {
    const rules = createCallRules({ catalog, tools: { deny: ['group:runtime'] } });
    const offered = rules.offered({ agent: { ...agent, tools: { deny: ['wait'] } }, context: {} });
    assert.ok(offered.includes('read_file'));
    for (const name of ['exec', 'process', 'wait']) assert.ok(!offered.includes(name), name);
  });
});

describe('PO-1 layers that come with the turn', () => {
  const rules = (tools: ToolPolicy = {}): CallRules => createCallRules({ catalog, tools });
  const judged = (tool: string, input: Omit<RuleScope, 'agent'>): Verdict => {
    const found = catalog.find(tool);
    assert.ok(found);
    return rules().judge({
      agent,
      user: null,
      allowlist: [],
      used: {},
      args: {},
      tool: found.tool,
      ...input,
    });
  };

  test('a subagent has none of the tools that subagents are denied, offered or called, whatever is given back', () => {
    const tools: ToolPolicy = { also_allow: ['session_status', 'sessions_list'] };
    const inner: MessageContext = { subagent: { depth: 1, leaf: false } };
    const leaf: MessageContext = { subagent: { depth: 2, leaf: true } };
    const offered = rules(tools).offered({ agent: { ...agent, tools }, context: inner });
    assert.ok(!offered.includes('session_status'));
    assert.ok(offered.includes('sessions_list'));
    assert.ok(!rules(tools).offered({ agent, context: leaf }).includes('sessions_list'));
    assert.equal(judged('session_status', { context: inner }).verdict, 'deny');
    assert.equal(judged('sessions_list', { context: leaf }).verdict, 'deny');
    assert.equal(judged('sessions_list', { context: inner }).verdict, 'allow');
  });

  test('a child has at most what its parent had, and a channel what it allows', () => {
    const within = ['read_file', 'datetime'];
    assert.deepEqual(rules().offered({ agent, context: { within } }).toSorted(), within.toSorted());
    assert.deepEqual(rules().offered({ agent, context: { within, group: ['group:fs'] } }), ['read_file']);
    assert.equal(judged('write_file', { context: { within } }).verdict, 'deny');
    assert.equal(judged('datetime', { context: { within, group: ['group:fs'] } }).verdict, 'deny');
    assert.equal(judged('read_file', { context: { within, group: ['group:fs'] } }).verdict, 'allow');
    assert.deepEqual(rules().offered({ agent, context: { within: [] } }), []);
  });

  test("a tenant's policy holds for each of its agents, between the settings and the agent", () => {
    const tenant_policy: TenantPolicy = { tools: { allow: ['group:fs'], deny: ['write_file'] } };
    assert.deepEqual(
      rules({ allow: ['read_file', 'write_file', 'datetime'] }).offered({ ...scope, tenant_policy }),
      ['read_file'],
    );
    assert.deepEqual(judged('write_file', { context: {}, tenant_policy }), {
      verdict: 'deny',
      reason:
        "write_file is not among the tools that main was given: denied by the tenant's deny list (write_file)",
      step: 'tenant_deny',
      rule: 'write_file',
    });
    const asks: TenantPolicy = { tools: { ask: [{ tool: 'read_file', reason: 'tenant' }] } };
    assert.equal(judged('read_file', { context: {}, tenant_policy: asks }).verdict, 'ask');
  });
});

describe('PO-4 the rules say why', () => {
  test('a refusal names the list and the pattern, for the model to read', () => {
    const verdict = judge('exec', { command: 'ls' }, { tools: { deny: ['group:runtime'] } });
    assert.deepEqual(verdict, {
      verdict: 'deny',
      reason:
        "exec is not among the tools that main was given: denied by the agent's deny list (group:runtime)",
      step: 'agent_deny',
      rule: 'group:runtime',
    });
  });

  test('a profile of the agent or of the settings decides what is offered and judged', () => {
    const minimal: AgentConfig = { ...agent, tools: { profile: 'minimal' } };
    const rules = createCallRules({ catalog, tools: {} });
    assert.deepEqual(rules.offered({ agent: minimal, context: {} }), ['session_status']);
    assert.deepEqual(createCallRules({ catalog, tools: { profile: 'minimal' } }).offered(scope), [
      'session_status',
    ]);
    assert.equal(judge('read_file', { path: 'a' }, minimal).verdict, 'deny');
  });

  test("what holds for a model provider holds for the agent's first model", () => {
    const tools: ToolPolicy = { profile: 'full', by_provider: { rehearsal: { profile: 'minimal' } } };
    const rules = createCallRules({ catalog, tools });
    assert.deepEqual(rules.offered(scope), ['session_status']);
    const other = rules.offered({
      agent: { ...agent, model: ['openai/gpt-4.1-mini', 'rehearsal/echo'] },
      context: {},
    });
    assert.ok(other.includes('exec'));
  });
});

describe('AP-5 any tool may be put to a person by a rule', () => {
  test('a rule matches on tool and arguments, and says how long to wait', () => {
    const tools: ToolPolicy = {
      ask: [{ tool: 'write_file', args: { path: '*.env' }, expires_seconds: 7, reason: 'settings' }],
    };
    assert.deepEqual(judge('write_file', { path: 'prod.env', content: '' }, { tools }), {
      verdict: 'ask',
      reason: 'settings',
      terms: { expires_seconds: 7 },
      step: 'agent_rule',
      rule: 'write_file',
    });
    assert.equal(judge('write_file', { path: 'a.txt', content: '' }, { tools }).verdict, 'allow');
  });

  test('a rule of the settings holds for every agent', () => {
    assert.equal(
      judge('read_file', { path: 'a' }, {}, { tools: { ask: [{ tool: 'group:fs' }] } }).verdict,
      'ask',
    );
  });
});

describe('AP-5 rules that allow or deny', () => {
  const write = { path: 'a.env', content: '' };

  test('a rule denies a call of a tool that the agent has, with its reason', () => {
    const tools: ToolPolicy = { rules: [{ tool: 'write_file', args: { path: '*.env' }, decision: 'deny' }] };
    const verdict = judge('write_file', write, { tools });
    assert.deepEqual(verdict, {
      verdict: 'deny',
      reason: 'a rule denies write_file',
      step: 'agent_rule',
      rule: 'write_file',
    });
    assert.equal(judge('write_file', { ...write, path: 'a' }, { tools }).verdict, 'allow');
  });

  test('a person’s “always” does not pass a rule that denies', () => {
    const tools: ToolPolicy = { rules: [{ tool: 'exec', args: { command: 'npm *' }, decision: 'deny' }] };
    const allowlist = [{ tool: 'exec', pattern: NPM_PUBLISH }];
    assert.equal(judge('exec', { command: 'npm publish' }, { tools }, { allowlist }).verdict, 'deny');
  });

  test('a rule that allows spares the questions after it, and lifts no verdict on a command', () => {
    const tools: ToolPolicy = {
      rules: [{ tool: 'exec', args: { command: 'git *' }, decision: 'allow' }],
      ask: [{ tool: 'exec' }],
    };
    assert.equal(judge('exec', { command: 'git status' }, { tools }).verdict, 'allow');
    assert.equal(judge('exec', { command: 'git status; ls' }, { tools }).verdict, 'ask');
    assert.equal(judge('exec', { command: 'git push --force' }, { tools }).verdict, 'ask');
    assert.equal(judge('exec', { command: 'git status; rm -rf /' }, { tools }).verdict, 'deny');
    assert.equal(
      judge('write_file', write, {
        tools: { deny: ['write_file'], rules: [{ tool: '*', decision: 'allow' }] },
      }).verdict,
      'deny',
    );
  });

  test('a rule may hold for a channel', () => {
    const tools: ToolPolicy = { ask: [{ tool: 'exec', channel: 'telegram' }] };
    const on = (channel: string) =>
      judge('exec', { command: 'ls' }, { tools }, { context: { channel } }).verdict;
    assert.equal(on('telegram'), 'ask');
    assert.equal(on('cli'), 'allow');
  });
});

describe('SH-1 categories are switched by the settings, the tenant and the agent', () => {
  const install = (...[settings, tenant, own]: (ExecPolicy['categories'] | undefined)[]) => {
    const found = catalog.find('exec');
    assert.ok(found);
    const rules = createCallRules({ catalog, tools: {}, exec: { categories: settings } });
    const { verdict } = rules.judge({
      agent: { ...agent, exec: { ask: 'off', categories: own } },
      tenant_policy: { exec: { categories: tenant } },
      context: {},
      user: null,
      allowlist: [],
      used: {},
      tool: found.tool,
      args: { command: 'npm install left-pad' },
    });
    return verdict;
  };
  const off = { package_install: false };
  const on = { package_install: true };

  test('the innermost decides on each category, and the others stay as they were', () => {
    assert.equal(install(), 'deny');
    assert.equal(install(off), 'allow');
    assert.equal(install(undefined, off), 'allow');
    assert.equal(install(off, on), 'deny');
    assert.equal(install(off, off, on), 'deny');
    assert.equal(install(on, undefined, off), 'allow');
    assert.equal(install(off, { env_dump: false }, { network_recon: true }), 'allow');
  });

  test('no switch opens a denied path', () => {
    const categories = Object.fromEntries(SHELL_SWITCHES.map((name) => [name, false]));
    const exec: ExecPolicy = { ask: 'off', categories };
    assert.equal(judge('exec', { command: 'cat .tempoclaw/api-key' }, { exec }).verdict, 'deny');
    assert.equal(
      agentConfigSchema.safeParse({ ...agent, exec: { categories: { denied_path: false } } }).success,
      false,
    );
  });
});

describe('SH-2 commands', () => {
  const cases: [string, ExecPolicy, Verdict['verdict']][] = [
    ['ls', { security: 'deny' }, 'deny'],
    ['ls -la', { security: 'full', ask: 'on-miss' }, 'allow'],
    ['ls', { security: 'full', ask: 'always' }, 'ask'],
    ['git status', { security: 'allowlist', ask: 'always', allowlist: ['git *'] }, 'ask'],
    ['git status', { security: 'allowlist', ask: 'off', allowlist: ['git *'] }, 'allow'],
    ['git status && curl https://evil', { security: 'allowlist', ask: 'off', allowlist: ['git *'] }, 'deny'],
    ['npm test', { security: 'full', ask: 'on-miss' }, 'allow'],
    ['npm publish', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['npm publish', { security: 'full', ask: 'off' }, 'allow'],
    ['node -p 1', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['cat src/a.ts | head', { security: 'full', ask: 'on-miss' }, 'allow'],
    ['cat .tempoclaw/api-key', { security: 'full', ask: 'off' }, 'deny'],
    ['cat ~/.ssh/id_rsa', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['ls | sh', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['cat ../../api-key', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['cat /etc/passwd', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['echo $(id)', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['ls\nid', { security: 'full', ask: 'on-miss' }, 'ask'],
    ['LD_PRELOAD=x ls', { security: 'full', ask: 'on-miss' }, 'deny'],
    ['rm -rf build', { security: 'full', ask: 'off' }, 'deny'],
    ['rm -rf build', { security: 'full', ask: 'off', categories_off: ['destructive_ops'] }, 'allow'],
  ];
  for (const [command, exec, expected] of cases) {
    test(`${JSON.stringify(command)} under ${JSON.stringify(exec)}: ${expected}`, () => {
      assert.equal(judge('exec', { command }, { exec }).verdict, expected);
    });
  }

  test('what was always allowed is allowed again, and nothing else is', () => {
    const rules = createCallRules({ catalog, tools: {}, resolveProgram });
    const always = rules.alwaysOffer({ tool: 'exec', args: { command: 'npm publish' }, place: 'host' });
    assert.ok('pattern' in always);
    assert.deepEqual(always, { pattern: NPM_PUBLISH, shown: '/usr/bin/npm publish' });
    const allowlist = [{ tool: 'exec', pattern: always.pattern }];
    assert.equal(judge('exec', { command: 'npm publish', timeout: 9 }, {}, { allowlist }).verdict, 'allow');
    for (const command of ['npm publish; id', 'npm publish x', 'npm publish > x', 'A=b npm publish'])
      assert.equal(judge('exec', { command }, {}, { allowlist }).verdict, 'ask', command);
    assert.equal(
      judge('exec', { command: 'npm publish' }, { exec: { security: 'deny' } }, { allowlist }).verdict,
      'deny',
    );
  });

  test('a command that was always allowed passes a rule that asks, a denied one never does', () => {
    const tools: ToolPolicy = { ask: [{ tool: 'exec' }] };
    const allowlist = [NPM_PUBLISH, formatEntry({ path: '/usr/bin/rm', args: ['-rf', '/'] })].map(
      (pattern) => ({
        tool: 'exec',
        pattern,
      }),
    );
    assert.equal(judge('exec', { command: 'npm publish' }, { tools }, { allowlist }).verdict, 'allow');
    assert.equal(judge('exec', { command: 'ls' }, { tools }, { allowlist }).verdict, 'ask');
    assert.equal(judge('exec', { command: 'rm -rf /' }, { tools }, { allowlist }).verdict, 'deny');
  });

  test('an interpreter with code is never allowed always, other tools are with exactly their arguments', () => {
    const rules = createCallRules({ catalog, tools: {} });
    const offer = (tool: string, args: Record<string, unknown>) =>
      rules.alwaysOffer({ tool, args, place: 'host' });
    assert.ok('refused' in offer('exec', { command: "sh -c 'echo a'" }));
    assert.deepEqual(offer('write_file', { path: 'a', content: 'b' }), {
      pattern: '[["content","b"],["path","a"]]',
      shown: 'write_file with exactly these arguments',
    });
    const long = offer('write_file', { path: 'a', content: 'b'.repeat(2_000) });
    assert.deepEqual(long, { refused: 'it is too long to be shown whole' });
  });

  test('what asks says what the risk is', () => {
    const verdict = judge('exec', { command: 'cat .env' }, { exec: { ask: 'on-miss' } });
    assert.equal(verdict.verdict === 'ask' && verdict.risk, 'credential_access');
  });
});
