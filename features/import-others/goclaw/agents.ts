/** Agents of GoClaw: those of its config.json, and those of its exports. */
import { SHELL_SWITCHES } from '@tempoclaw/shell-judge/switches';
import { agentCreateSchema } from '#domain/schema/agent.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import { type Findings, keep, remarkRest, toName } from '../findings.ts';

const REASONS = {
  context_window: 'TempoClaw knows the windows of models; others are in the settings',
  temperature: 'models run with their own',
  max_tool_calls: 'limits.iterations bounds a turn; a budget can bound its calls',
  subagents_config: 'the limits of subagents are settings of the installation',
  memory_config: 'the search of memory is set for the installation',
  compaction_config: 'long conversations are summarised by the window of the model',
  context_pruning: 'long conversations are summarised by the window of the model',
  contextPruning: 'long conversations are summarised by the window of the model',
  other_config: 'only quality_gates, shell_deny_groups and max_delegation_load have a counterpart',
  workspace: 'files of workspaces are not imported; upload those that the agent needs',
  workspace_sharing: 'set the agent’s workspace',
  skills: 'imported skills are for all agents; publish one as private to narrow that',
  status: 'every imported agent is active',
} as const;

const THINKING: Readonly<Record<string, string>> = { off: 'none' };

/** Adds an agent, and returns its key; undefined when it is left out. */
export function addAgent(findings: Findings, name: string, fields: Fields): string | undefined {
  const key = toName(name);
  const what = `agent ${key || name}`;
  const {
    agent_key: _key,
    display_name,
    displayName = display_name,
    provider,
    model,
    agent_type,
    max_tokens,
    max_tool_iterations,
    agent_description,
    frontmatter,
    thinking_level,
    tools_config,
    tools = tools_config,
    sandbox_config,
    sandbox = sandbox_config,
    shell_deny_groups,
    other_config,
    identity,
    default: _default,
    status,
    ...rest
  } = fields;
  const { quality_gates, max_delegation_load, shell_deny_groups: groups, ...others } = recordOf(other_config);
  const categories = categoriesOf(findings, what, shell_deny_groups ?? groups);
  const value = {
    key,
    name: displayName || recordOf(identity)['name'],
    type: agent_type === 'predefined' ? 'predefined' : 'open',
    model: modelOf(provider, model),
    description: agent_description,
    frontmatter,
    thinking: thinking_level && (THINKING[String(thinking_level)] ?? thinking_level),
    tool_names: 'goclaw',
    tools: toolsOf(findings, what, tools),
    sandbox: sandboxOf(findings, what, sandbox),
    exec: categories && { categories },
    limits: someOf({ iterations: max_tool_iterations, output_tokens: max_tokens }),
    quality_gates,
    max_delegation_load,
  };
  if (!keep(findings, findings.agents, what, agentCreateSchema, someOf(value))) return undefined;
  const reported = { ...rest, other_config: others, ...(status !== 'active' && { status }) };
  remarkRest(findings, what, reported, REASONS);
  return key;
}

/** Without what is not set, which other systems write as an empty text or 0. */
function someOf(fields: Fields): Fields | undefined {
  const some = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== 0,
  );
  return some.length > 0 ? Object.fromEntries(some) : undefined;
}

/** `openrouter` and `anthropic/claude` make `openrouter/anthropic/claude`. */
function modelOf(provider: unknown, model: unknown): string {
  return provider ? `${String(provider)}/${String(model ?? '')}` : String(model ?? '');
}

function toolsOf(findings: Findings, what: string, value: unknown): Fields | undefined {
  const { profile, allow, deny, alsoAllow, byProvider, ...rest } = recordOf(value);
  remarkRest(findings, `${what}: tools`, rest, {});
  const providers = Object.entries(recordOf(byProvider)).map(([provider, policy]) => {
    const { profile: own, allow: only, ...more } = recordOf(policy);
    remarkRest(findings, `${what}: tools.byProvider.${provider}`, more, {});
    return [provider, someOf({ profile: own, allow: only }) ?? {}];
  });
  const by_provider = providers.length > 0 ? Object.fromEntries(providers) : undefined;
  return someOf({ profile, allow, deny, also_allow: alsoAllow, by_provider });
}

const SANDBOX_MODES: Readonly<Record<string, string>> = {
  off: 'off',
  'non-main': 'required',
  all: 'required',
};

function sandboxOf(findings: Findings, what: string, value: unknown): Fields | undefined {
  const {
    mode,
    image: _image,
    workspace_access,
    scope,
    memory_mb,
    cpus,
    network_enabled,
    ...rest
  } = recordOf(value);
  if (!mode) return undefined;
  remarkRest(findings, `${what}: sandbox`, rest, {});
  return someOf({
    mode: SANDBOX_MODES[String(mode)] ?? mode,
    workspace: workspace_access,
    scope,
    memory: typeof memory_mb === 'number' && memory_mb > 0 ? `${memory_mb}m` : undefined,
    cpus,
    network: network_enabled,
  });
}

function categoriesOf(findings: Findings, what: string, value: unknown): Fields | undefined {
  const isKnown = (name: string): boolean => (SHELL_SWITCHES as readonly string[]).includes(name);
  const entries = Object.entries(recordOf(value));
  for (const [name] of entries.filter(([one]) => !isKnown(one)))
    findings.remarks.push({ what: `${what}: shell_deny_groups.${name}`, why: 'there is no such category' });
  const known = entries.filter(([name]) => isKnown(name));
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}

export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
