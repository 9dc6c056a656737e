/** PO-4: a decision on a tool in words, for the model that is refused and for people who ask why. */
import type { PolicyStep, ToolDecision } from './effective-tools.ts';

const STEPS: Readonly<Record<PolicyStep, string>> = {
  default: 'no rule limits it',
  global_profile: 'the profile of the settings',
  provider_profile: "the settings' profile for this model provider",
  global_allow: "the settings' allow list",
  provider_allow: "the settings' allow list for this model provider",
  tenant_profile: "the tenant's profile",
  tenant_allow: "the tenant's allow list",
  tenant_provider_allow: "the tenant's allow list for this model provider",
  agent_profile: "the agent's profile",
  agent_allow: "the agent's allow list",
  agent_provider_allow: "the agent's allow list for this model provider",
  group_allow: "the channel's allow list",
  global_deny: "the settings' deny list",
  tenant_deny: "the tenant's deny list",
  agent_deny: "the agent's deny list",
  global_also_allow: "the settings' also_allow list",
  tenant_also_allow: "the tenant's also_allow list",
  agent_also_allow: "the agent's also_allow list",
  capability_deny: 'a capability that is denied',
  subagent_deny: 'what subagents never have',
  leaf_deny: 'what subagents at the greatest depth never have',
  parent: 'what the parent of this agent has',
  request_allow: "the message's list of allowed tools",
};

/** Such as `denied by the agent's deny list (group:runtime)`; one clause without a full stop. */
export function explainDecision(decision: ToolDecision): string {
  if (decision.step === 'default') return 'allowed: no rule limits it';
  const rule = decision.rule === null ? '' : ` (${decision.rule})`;
  if (decision.allowed) return `allowed by ${STEPS[decision.step]}${rule}`;
  const isLeftOut =
    decision.step.endsWith('allow') || decision.step.endsWith('profile') || decision.step === 'parent';
  return isLeftOut ? `not in ${STEPS[decision.step]}${rule}` : `denied by ${STEPS[decision.step]}${rule}`;
}
