import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configSchema } from '../../../config/schema.ts';
import type { ToolPolicy } from '#domain/agent.ts';
import { policyProblems, policyWarnings } from '#domain/policy/check-policy.ts';
import { agentCreateSchema, agentPatchSchema } from '#domain/schema/agent.ts';
import type { PolicyTool } from '#domain/policy/tool-groups.ts';
import { tenantPolicySchema } from '#domain/schema/policy.ts';

describe('PO-2 a policy that names what there is not is refused where it is written', () => {
  const wrong: [ToolPolicy, string, RegExp][] = [
    [{ profile: 'codign' }, 'profile', /no profile "codign"; there are full, coding, messaging, minimal/],
    [{ profile: 'toString' }, 'profile', /no profile/],
    [{ allow: ['exec', 'group:files'] }, 'allow.1', /no group "files"; there are fs, /],
    [{ deny: ['group:'] }, 'deny.0', /no group ""/],
    [{ deny: ['Group:fs'] }, 'deny.0', /"Group:fs" names no tool: a group is written group:NAME/],
    [{ deny: ['mcp:gh'] }, 'deny.0', /names no tool/],
    [{ deny: ['capability:writing'] }, 'deny.0', /no capability "writing"; there are read-only, mutating/],
    [{ also_allow: ['group:mcp2'] }, 'also_allow.0', /no group "mcp2"/],
    [{ ask: [{ tool: 'exec' }, { tool: 'group:shell' }] }, 'ask.1.tool', /no group "shell"/],
    [{ by_provider: { ollama: { profile: 'tiny' } } }, 'by_provider.ollama.profile', /no profile "tiny"/],
    [{ by_provider: { ollama: { allow: ['group:x'] } } }, 'by_provider.ollama.allow.0', /no group "x"/],
  ];
  for (const [policy, key, message] of wrong)
    test(`${JSON.stringify(policy)} is wrong at ${key}`, () => {
      const [problem, ...more] = policyProblems(policy);
      assert.ok(problem);
      assert.equal(problem.path.join('.'), key);
      assert.match(problem.message, message);
      assert.deepEqual(more, []);

      const agent = agentCreateSchema.safeParse({ key: 'a', model: 'rehearsal/echo', tools: policy });
      assert.equal(agent.error?.issues[0]?.path.join('.'), `tools.${key}`);
      const patch = agentPatchSchema.safeParse({ tools: policy });
      assert.equal(patch.error?.issues[0]?.path.join('.'), `tools.${key}`);
      const settings = configSchema.safeParse({ tools: policy });
      assert.equal(settings.error?.issues[0]?.path.join('.'), `tools.${key}`);
      assert.match(settings.error?.issues[0]?.message ?? '', message);
    });

  test('names of tools are not checked, since tools come and go', () => {
    const policy: ToolPolicy = {
      profile: 'coding',
      allow: ['group:native', 'group:goclaw', 'group:team', 'group:media', 'group:mcp', 'group:mcp:gh'],
      deny: ['a_tool_of_tomorrow', 'mcp_gh__*', 'capability:mcp-bridged', 'group:media_*'],
      by_provider: { ollama: { profile: 'minimal', allow: ['group:fs'] } },
      ask: [{ tool: 'exec', agent: 'res*', user: '*' }],
    };
    assert.deepEqual(policyProblems(policy), []);
    assert.ok(agentCreateSchema.safeParse({ key: 'a', model: 'rehearsal/echo', tools: policy }).success);
    assert.ok(configSchema.safeParse({ tools: { ...policy, rate_limit_per_hour: 5 } }).success);
  });

  test('GoClaw’s names are read as ours, and refused beside ours', () => {
    const input = { alsoAllow: ['exec'], byProvider: { ollama: { profile: 'minimal' } } };
    const meant = { also_allow: ['exec'], by_provider: { ollama: { profile: 'minimal' } } };
    const gate = { event: 'delegation.completed', type: 'command', command: 'true' };
    const rest = { key: 'a', model: 'rehearsal/echo' };
    const other_config = { quality_gates: [gate], max_delegation_load: 3 };
    const agent = agentCreateSchema.parse({ ...rest, toolNames: 'clawft', tools: input, other_config });
    assert.deepEqual(agent, {
      ...rest,
      type: 'open',
      tool_names: 'clawft',
      tools: meant,
      quality_gates: [gate],
      max_delegation_load: 3,
    });
    assert.deepEqual(agentPatchSchema.parse({ tools: input, other_config }), {
      tools: meant,
      quality_gates: [gate],
      max_delegation_load: 3,
    });
    const shell_deny_groups = { package_install: false };
    assert.deepEqual(agentPatchSchema.parse({ other_config: { shell_deny_groups } }), {
      exec: { categories: shell_deny_groups },
    });
    assert.deepEqual(tenantPolicySchema.parse({ tools: input }), { tools: meant });
    assert.deepEqual(configSchema.parse({ tools: input }).tools, { ...meant, denied_paths: ['.goclaw'] });
    const row = { agent_key: 'a', agent_type: 'predefined', model: rest.model, tools_config: input };
    const limits = { iterations: 30 };
    assert.deepEqual(agentCreateSchema.parse({ ...row, max_tool_iterations: 30 }), {
      ...rest,
      type: 'predefined',
      tools: meant,
      limits,
    });
    assert.deepEqual(agentPatchSchema.parse({ max_tool_iterations: 30 }), { limits });
    for (const [wrong, words] of [
      [{ tools: { ...input, also_allow: [] } }, /alsoAllow/],
      [{ other_config: { ...other_config, tone: 'warm' } }, /other_config/],
      [{ other_config, quality_gates: [] }, /other_config/],
      [{ other_config: { shell_deny_groups: {} }, exec: { ask: 'off' } }, /other_config/],
      [{ other_config: { shell_deny_groups: { nonsense: true } } }, /nonsense/],
      [{ other_config: 'warm' }, /other_config/],
      [{ max_tool_iterations: 9, limits: { output_tokens: 9 } }, /max_tool_iterations/],
      [{ max_tool_iterations: 0 }, /iterations/],
    ] as const)
      assert.match(agentCreateSchema.safeParse({ ...rest, ...wrong }).error?.message ?? '', words);
  });

  test('what is denied and given back is worth a warning', () => {
    const [warning] = policyWarnings({ deny: ['exec', 'cron'], also_allow: ['tts', 'exec'] });
    assert.deepEqual(warning?.path, ['also_allow', 1]);
    assert.match(warning?.message ?? '', /also_allow wins over deny/);
    assert.deepEqual(policyWarnings({ deny: ['exec'], also_allow: ['tts'] }), []);
  });

  describe('a name that no tool has is worth a warning, wherever it stands', () => {
    const tools: PolicyTool[] = [
      { name: 'web_fetch', group: 'web' },
      { name: 'exec', aliases: ['bash'], group: 'runtime' },
      { name: 'mcp_gh__list', aliases: ['gh__list', 'mcp_gh_list'], mcpServer: 'gh' },
    ];
    const places = (policy: ToolPolicy) => policyWarnings(policy, tools).map(({ path }) => path.join('.'));

    test('in each list and rule of a policy', () => {
      const wrong: ToolPolicy = {
        allow: ['web_fetch', 'webfetch'],
        deny: ['mcp_gh_lists', 'git_*'],
        also_allow: ['group:mcp:github'],
        disabled: ['Exec_'],
        rules: [{ tool: 'exce', decision: 'ask', after: ['web_fetch', 'fetch_web'] }],
        ask: [{ tool: 'shell' }],
        by_provider: { ollama: { allow: ['read_file'] } },
      };
      assert.deepEqual(places(wrong), [
        'allow.1',
        'deny.0',
        'deny.1',
        'also_allow.0',
        'disabled.0',
        'rules.0.tool',
        'rules.0.after.1',
        'ask.0.tool',
        'by_provider.ollama.allow.0',
      ]);
      assert.match(
        policyWarnings({ deny: ['webfetch'] }, tools)[0]?.message ?? '',
        /"webfetch" matches no tool that there is now; did you mean web_fetch\?/,
      );
    });

    test('and not of names, aliases, globs, servers and groups that are there, empty groups and GoClaw’s reserved name', () => {
      const right: ToolPolicy = {
        deny: ['*', 'bash', 'web_*', 'mcp_gh_list', 'gh__list', 'group:mcp:gh', 'whatsapp_login'],
        allow: ['group:fs', 'group:mcp', 'group:custom', 'group:media_*', 'capability:async'],
      };
      assert.deepEqual(places(right), []);
    });
  });
});
