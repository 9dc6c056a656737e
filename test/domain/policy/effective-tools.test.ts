/** PO-1, PO-2, SA-3: GoClaw's cases (test/vectors/policy.json, clawft.json) and what must hold for every policy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ToolPolicy } from '#domain/agent.ts';
import {
  decideTool,
  effectiveTools,
  explainTools,
  type PolicyLayers,
} from '#domain/policy/effective-tools.ts';
import { explainDecision } from '#domain/policy/explain-decision.ts';
import type { Profiles } from '#domain/policy/profiles.ts';
import { LEAF_DENY, SUBAGENT_DENY } from '#domain/policy/subagent-tools.ts';
import { type PolicyTool, TOOL_GROUPS } from '#domain/policy/tool-groups.ts';

interface UpstreamPolicy {
  readonly profile?: string;
  readonly allow?: string[];
  readonly deny?: string[];
  readonly alsoAllow?: string[];
  readonly byProvider?: Record<string, { profile?: string; allow?: string[] }>;
}

const POLICY = read<{
  registered: string[];
  groups: Record<string, string[]>;
  profiles: Profiles;
  subagent_always_deny: string[];
  subagent_leaf_deny: string[];
  cases: {
    name: string;
    registered?: string[];
    expect: string[];
    config: {
      g?: UpstreamPolicy;
      ag?: UpstreamPolicy;
      prov?: string;
      grp?: string[];
      req?: string[];
      sub?: boolean;
      leaf?: boolean;
    };
  }[];
}>('policy.json');
const CLAWFT = read<{
  permissions: { access: string[]; deny?: string[]; tool?: string; expect: string }[];
}>('clawft.json');

function read<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), 'utf8')) as Content;
}

function toolOf(name: string): PolicyTool {
  // The names' prefixes are short forms of the servers' names in these cases.
  const server = /^mcp_(\w+?)__/.exec(name)?.[1];
  if (server !== undefined) return { name, mcpServer: server === 'pg' ? 'postgres' : server };
  const group = Object.entries(POLICY.groups).find(([, members]) => members.includes(name))?.[0];
  return { name, group: group ?? 'other' };
}

function policyOf(policy: UpstreamPolicy | undefined): ToolPolicy {
  const { alsoAllow, byProvider, ...rest } = policy ?? {};
  return { ...rest, also_allow: alsoAllow, by_provider: byProvider };
}

const TOOLS = POLICY.registered.map(toolOf);

function names(layers: PolicyLayers, profiles: Profiles = POLICY.profiles): readonly string[] {
  return effectiveTools(TOOLS, layers, profiles);
}

describe("PO-1 the order of the steps, by upstream's cases", () => {
  for (const { name, config, expect, registered } of POLICY.cases)
    test(name, () => {
      const layers: PolicyLayers = {
        global: policyOf(config.g),
        agent: policyOf(config.ag),
        provider: config.prov,
        group: config.grp,
        request: config.req,
        subagent: config.leaf ? 'leaf' : config.sub ? 'inner' : undefined,
      };
      const tools = registered?.map(toolOf) ?? TOOLS;
      assert.deepEqual(effectiveTools(tools, layers, POLICY.profiles).toSorted(), expect);
    });

  test('the lists of subagents are the ones upstream has', () => {
    assert.deepEqual([...SUBAGENT_DENY], POLICY.subagent_always_deny);
    assert.deepEqual([...LEAF_DENY], POLICY.subagent_leaf_deny);
  });

  test('the provider allow list and that of the agent for the provider hold for that provider only', () => {
    const global: ToolPolicy = { by_provider: { x: { allow: ['group:fs', 'exec'] } } };
    const agent: ToolPolicy = { by_provider: { x: { allow: ['exec', 'cron'] } } };
    assert.deepEqual(names({ global, agent, provider: 'x' }), ['exec']);
    assert.equal(names({ global, agent, provider: 'y' }).length, TOOLS.length);
    assert.equal(names({ global, agent }).length, TOOLS.length);
  });

  test("an agent's profile narrows what the settings give, and never widens it", () => {
    assert.deepEqual(names({ agent: { profile: 'minimal' } }), ['session_status']);
    assert.deepEqual(names({ global: { profile: 'minimal' }, agent: { profile: 'full' } }), [
      'session_status',
    ]);
  });

  test('what follows also_allow cannot be given back', () => {
    const agent: ToolPolicy = { also_allow: ['cron', 'spawn', 'exec'], deny: ['capability:mutating'] };
    assert.ok(!names({ agent }).includes('exec'));
    assert.ok(!names({ agent: { also_allow: ['cron'] }, subagent: 'inner' }).includes('cron'));
    assert.ok(!names({ agent: { also_allow: ['spawn'] }, subagent: 'leaf' }).includes('spawn'));
    assert.deepEqual(names({ agent: { also_allow: ['exec'] }, request: ['read_file'] }), ['read_file']);
  });

  test('an allow list without a member gives nothing, and no list gives all', () => {
    assert.deepEqual(names({ agent: { allow: [] } }), []);
    assert.deepEqual(names({ request: [] }), []);
    assert.equal(names({}).length, TOOLS.length);
  });

  test('a profile that is not known gives nothing', () => {
    for (const profile of ['fulll', 'constructor', '__proto__'])
      assert.deepEqual(names({ global: { profile } }), [], profile);
  });
});

describe('PO-2 profiles, groups and globs', () => {
  const tools: readonly PolicyTool[] = [
    { name: 'exec', aliases: ['bash', 'exec_shell'], group: 'runtime' },
    { name: 'read_file', group: 'fs', readOnly: true },
    { name: 'write_file', group: 'fs' },
    { name: 'skill_search', group: 'knowledge', readOnly: true },
    { name: 'session_status', group: 'sessions', readOnly: true },
    { name: 'read_image', group: 'media_read', readOnly: true },
    { name: 'spawn', aliases: ['sessions_spawn'], group: 'sessions', async: true },
    { name: 'mcp_gh__issue', mcpServer: 'gh' },
    { name: 'mcp_pg__query', mcpServer: 'pg' },
    { name: 'my_tool' },
  ];
  const allowed = (...allow: string[]): readonly string[] => effectiveTools(tools, { agent: { allow } });
  const denied = (...deny: string[]): readonly string[] => {
    const remaining = effectiveTools(tools, { agent: { deny } });
    return tools.map((tool) => tool.name).filter((name) => !remaining.includes(name));
  };

  test('the native group, by either name, has our own tools and no MCP or custom ones', () => {
    const native = tools.filter((tool) => tool.group !== undefined).map((tool) => tool.name);
    assert.deepEqual(allowed('group:native'), native);
    assert.deepEqual(allowed('group:goclaw'), native);
  });

  test('the groups of MCP are made as servers come', () => {
    assert.deepEqual(allowed('group:mcp'), ['mcp_gh__issue', 'mcp_pg__query']);
    assert.deepEqual(allowed('group:mcp:pg'), ['mcp_pg__query']);
    assert.deepEqual(denied('group:mcp:p*'), ['mcp_pg__query']);
    assert.deepEqual(allowed('mcp_gh__*'), ['mcp_gh__issue']);
    assert.deepEqual(allowed('group:mcp:'), []);
  });

  test('names are globs, and an alias stands for its tool', () => {
    assert.deepEqual(allowed('*_file'), ['read_file', 'write_file']);
    assert.deepEqual(denied('bash'), ['exec']);
    assert.deepEqual(denied('exec_*'), ['exec']);
    assert.deepEqual(denied('sessions_spawn'), ['spawn']);
    assert.deepEqual(allowed('group:media_*'), ['read_image']);
  });

  test('an unknown group or capability is no tool at all', () => {
    for (const pattern of ['group:files', 'group:', 'group:toString', 'capability:none', 'capability:'])
      assert.deepEqual(allowed(pattern), [], pattern);
  });

  test('a capability takes every tool that has it', () => {
    assert.deepEqual(denied('capability:mcp-bridged'), ['mcp_gh__issue', 'mcp_pg__query']);
    assert.deepEqual(denied('capability:async'), ['spawn']);
    assert.deepEqual(denied('capability:read-only'), [
      'read_file',
      'skill_search',
      'session_status',
      'read_image',
    ]);
    assert.ok(denied('capability:mutating').includes('my_tool'));
  });

  test('the profiles are those of the newest seed', () => {
    const profile = (name: string): readonly string[] => effectiveTools(tools, { global: { profile: name } });
    assert.deepEqual(profile('minimal'), ['session_status']);
    assert.deepEqual(profile('messaging'), ['skill_search', 'session_status', 'read_image', 'spawn']);
    assert.deepEqual(profile('coding'), [
      'exec',
      'read_file',
      'write_file',
      'skill_search',
      'session_status',
      'read_image',
      'spawn',
    ]);
    assert.equal(profile('full').length, tools.length);
  });

  test('a subagent loses a tool also when only its alias is on the list', () => {
    assert.ok(!effectiveTools(tools, { subagent: 'leaf' }).includes('spawn'));
    const renamed: PolicyTool = { name: 'start_agent', aliases: ['sessions_spawn'], group: 'sessions' };
    assert.deepEqual(effectiveTools([renamed], { subagent: 'leaf' }), []);
  });

  for (const { access, deny = [], tool, expect } of CLAWFT.permissions)
    if (tool !== undefined)
      test(`clawft: ${tool} with ${JSON.stringify({ access, deny })} is ${expect}`, () => {
        const decision = decideTool({ name: tool }, { agent: { allow: access, deny } });
        assert.equal(decision.allowed, expect === 'ok');
      });
});

describe('PO-4 why a tool is there or missing', () => {
  test('each tool has the step and the rule that decided', () => {
    const layers: PolicyLayers = {
      global: { profile: 'coding', deny: ['exec'], also_allow: ['tts'] },
      agent: { allow: ['group:fs', 'group:runtime'], deny: ['write_*'] },
      request: ['read_file', 'tts', 'write_file'],
    };
    const decided = new Map(explainTools(TOOLS, layers, POLICY.profiles).map((each) => [each.tool, each]));
    const say = (name: string): string => {
      const decision = decided.get(name);
      assert.ok(decision);
      return explainDecision(decision);
    };
    assert.equal(say('read_file'), "allowed by the message's list of allowed tools (read_file)");
    assert.equal(say('web_fetch'), 'not in the profile of the settings (coding)');
    assert.equal(say('memory_get'), "not in the agent's allow list");
    assert.equal(say('exec'), "denied by the settings' deny list (exec)");
    assert.equal(say('write_file'), "denied by the agent's deny list (write_*)");
    assert.equal(say('tts'), "allowed by the message's list of allowed tools (tts)");
    assert.equal(say('edit_file'), "not in the message's list of allowed tools");
    assert.equal(explainDecision(decideTool({ name: 'x' }, {})), 'allowed: no rule limits it');
  });
});

const pattern = fc.constantFrom(
  ...TOOLS.slice(0, 12).map((tool) => tool.name),
  ...TOOL_GROUPS.map((group) => `group:${group}`),
  'group:native',
  'group:nothing',
  'capability:mutating',
  '*',
  's*',
  'read_?ile',
);
const list = fc.option(fc.array(pattern, { maxLength: 6 }), { nil: undefined });
const profile = fc.option(fc.constantFrom('full', 'coding', 'messaging', 'minimal', 'unknown'), {
  nil: undefined,
});
const policy: fc.Arbitrary<ToolPolicy> = fc.record({
  profile,
  allow: list,
  deny: list,
  also_allow: list,
  by_provider: fc.option(fc.dictionary(fc.constantFrom('x', 'y'), fc.record({ profile, allow: list })), {
    nil: undefined,
  }),
});
const anyLayers: fc.Arbitrary<PolicyLayers> = fc.record({
  global: policy,
  agent: policy,
  provider: fc.constantFrom('x', 'y', undefined),
  group: list,
  request: list,
  subagent: fc.constantFrom('inner', 'leaf', undefined),
});

describe('PO-1 what holds for every policy', () => {
  const within = (few: readonly string[], many: readonly string[]): boolean =>
    few.every((name) => many.includes(name));

  test('a child never has a tool that its parent lacks, whatever its own policy says', () => {
    fc.assert(
      fc.property(anyLayers, anyLayers, (parent, child) => {
        const has = names(parent);
        assert.ok(within(names({ ...child, parent: has }), has));
      }),
    );
  });

  test('a message, a further denial and the state of being a subagent only take away', () => {
    fc.assert(
      fc.property(anyLayers, list, (layers, more) => {
        const { request: _request, subagent: _subagent, ...base } = layers;
        const all = names(base);
        assert.ok(within(names({ ...base, request: more }), all));
        assert.ok(within(names({ ...base, subagent: 'inner' }), all));
        assert.ok(within(names({ ...base, subagent: 'leaf' }), names({ ...base, subagent: 'inner' })));
        const deny = [...(base.agent?.deny ?? []), ...(more ?? [])];
        assert.ok(within(names({ ...base, agent: { ...base.agent, deny } }), all));
      }),
    );
  });

  test('what is left keeps the order of registration, and equal policies give equal lists', () => {
    fc.assert(
      fc.property(anyLayers, (layers) => {
        const remaining = names(layers);
        assert.deepEqual(
          remaining,
          POLICY.registered.filter((name) => remaining.includes(name)),
        );
        assert.deepEqual(names(structuredClone(layers)), remaining);
      }),
    );
  });

  test('the list and the explanations say the same', () => {
    fc.assert(
      fc.property(anyLayers, (layers) => {
        const decisions = explainTools(TOOLS, layers, POLICY.profiles);
        assert.deepEqual(
          decisions.filter((each) => each.allowed).map((each) => each.tool),
          names(layers),
        );
        for (const each of decisions) assert.match(explainDecision(each), /^(allowed|not in|denied by)/);
      }),
    );
  });

  test('MC-4 skills bring in what is internal by its names, and nothing that is denied or was not allowed', () => {
    const hidden = {
      name: 'mcp_memory__store',
      aliases: ['memory__store'],
      mcpServer: 'memory',
      isInternal: true,
    };
    const using = (...allowed: string[]) => [{ name: 'notes', allowed, brings: true }];
    const isAllowed = (layers: Parameters<typeof decideTool>[1]): boolean =>
      decideTool(hidden, layers).allowed;
    assert.equal(isAllowed({}), false);
    assert.equal(isAllowed({ skills: using('memory__*', 'read_file') }), true);
    assert.equal(isAllowed({ skills: using('group:mcp:memory') }), true);
    assert.equal(isAllowed({ skills: using('*') }), false);
    assert.equal(isAllowed({ skills: using('memory__*'), agent: { deny: ['group:mcp'] } }), false);
    assert.equal(isAllowed({ skills: using('memory__*'), request: ['read_file'] }), false);
  });
});
