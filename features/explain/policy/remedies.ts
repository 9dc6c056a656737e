/** What would change a decision, in one sentence for a person who may change it. */
import type { UrlRule } from '@tempoclaw/egress/rules';
import type { ShellVerdict } from '@tempoclaw/shell-judge';
import { SHELL_SWITCHES } from '@tempoclaw/shell-judge/switches';
import type { CallStep } from '#policy/call-rules.ts';

const OWNERS: Readonly<Record<string, string>> = {
  global: 'the settings (tempoclaw.yaml)',
  provider: 'the settings (tempoclaw.yaml)',
  tenant: 'the tenant (PUT /v1/policy)',
  agent: 'the agent (tempoclaw agents update)',
};

const OF_STARTER = 'let the agent that started the subagent call it; no setting gives it to a subagent';

/** What changes a decision of each step, where the rule does not matter. */
const REMEDIES: Partial<Readonly<Record<CallStep, string>>> = {
  group_allow: 'name the tool in what the channel allows',
  subagent_deny: OF_STARTER,
  leaf_deny: OF_STARTER,
  parent: 'give the tool to the agent that started this one: a child never has more',
  request_allow: "name the tool in the message's allowed_tools",
  shell: 'see explain shell for the command',
  internal_only:
    'name the tool or its group in tools.allow or tools.also_allow of the agent, or use a skill that names it',
  mcp_grant: 'see tempoclaw mcp grants SERVER',
  client_tool: 'decide respond with the result of the call',
  arguments: 'see tempoclaw tools show for the arguments',
};

/** Undefined when the call is allowed. */
export function toolRemedy(
  decision: 'allow' | 'ask' | 'deny',
  step: CallStep,
  rule: string | null,
): string | undefined {
  if (decision === 'allow') return undefined;
  const owner = OWNERS[step.split('_')[0] ?? ''] ?? 'the settings';
  const fixed = REMEDIES[step];
  if (fixed !== undefined) return fixed;
  if (step === 'capability_deny')
    return `take ${rule} out of tools.deny; also_allow does not give back what a capability takes`;
  if (step === 'skill_hides')
    return `name the tool in the allowed-tools of the skill (${rule}); the next turn has it again`;
  return listRemedy(decision, step, rule, owner);
}

function listRemedy(decision: 'ask' | 'deny', step: CallStep, rule: string | null, owner: string): string {
  if (step.endsWith('_rule'))
    return decision === 'ask'
      ? `decide on the approval, or change the rule on ${rule} of ${owner}`
      : `change the rule on ${rule} of ${owner}`;
  if (step.endsWith('_disabled'))
    return `take ${rule} out of tools.disabled of ${owner}; nothing else gives it back`;
  if (step.endsWith('_deny'))
    return `take ${rule} out of tools.deny of ${owner}, or name the tool in also_allow`;
  if (step.endsWith('_profile'))
    return `name the tool in tools.also_allow of ${owner}, or choose another profile than ${rule}`;
  const list = step.endsWith('provider_allow') || step === 'provider_allow' ? 'tools.by_provider' : 'tools';
  return `name the tool in ${list}.allow of ${owner}`;
}

const SHELL: Readonly<Record<string, string>> = {
  refused_text: 'write it without control characters',
  security_deny: 'set exec.security of the agent',
  not_listed: 'name it in exec.allowlist',
  ask_always: 'approve it, or set exec.ask to on-miss',
  not_known: 'approve it, once or always, or name it in exec.allowlist',
};

export function shellRemedy({ decision, category, rule }: ShellVerdict): string | undefined {
  if (decision === 'allow') return undefined;
  const known = SHELL[rule];
  if (known !== undefined) return known;
  if (category === 'denied_path') return 'no setting opens these paths; leave them out';
  // The narrower of the two, when a part of a category has its own switch.
  const name = SHELL_SWITCHES.find((one) => one === rule) ?? SHELL_SWITCHES.find((one) => one === category);
  if (name === undefined) return 'write it with words that stand for themselves, or approve it';
  const off = `exec.categories.${name}: false lets all of its kind through`;
  return decision === 'ask' ? `approve it; ${off}` : off;
}

const URL_REMEDIES: Readonly<Partial<Record<UrlRule, string>>> = {
  blocked_domain: 'take the domain out of the list of blocked domains',
  not_listed: 'name the domain in the list of allowed domains',
  local_name: 'if it is a service of your own, name it as internal host',
  private: 'if it is a service of your own, name it as internal host',
  loopback: 'if it is a service of your own, name it as internal host',
  port: 'name the port among the allowed ports',
  unresolved: 'look at the name, and at the resolver of the machine',
  malformed: 'write it as https://host/path',
  scheme: 'use http or https',
  userinfo: 'leave out what stands before the @; give credentials as headers',
};

export function urlRemedy(rule: UrlRule): string | undefined {
  return URL_REMEDIES[rule];
}
