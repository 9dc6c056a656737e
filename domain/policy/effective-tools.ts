/**
 * PO-1: which tools an agent has, and for each tool the step and the rule that decided (PO-4). Allow steps intersect,
 * deny removes, and `also_allow` adds (also what was denied: GoClaw's order). The later steps – capabilities, tools
 * that are switched off, subagents, the parent, the request, skills in use – can only remove.
 */
import type { ToolPolicy } from '#domain/agent.ts';
import { fieldOf } from '../outside-value.ts';
import { bringingSkill, hidingSkills, type SkillInUse } from './skills-in-use.ts';
import { PROFILES, type Profiles } from './profiles.ts';
import { LEAF_DENY, SUBAGENT_DENY } from './subagent-tools.ts';
import { CAPABILITY, matchesTool, type PolicyTool } from './tool-groups.ts';

export interface PolicyLayers {
  /** The policy of the settings. */
  readonly global?: ToolPolicy | undefined;
  readonly tenant?: ToolPolicy | undefined;
  readonly agent?: ToolPolicy | undefined;
  /** Provider of the agent's model; it selects `by_provider`. */
  readonly provider?: string | undefined;
  /** Tools that the channel or group chat allows. */
  readonly group?: readonly string[] | undefined;
  /** `leaf`: a subagent at the greatest depth. */
  readonly subagent?: 'inner' | 'leaf' | undefined;
  /** Names of the parent's tools: a child never has more (SA-4). */
  readonly parent?: readonly string[] | undefined;
  /** Tools that the message allows. */
  readonly request?: readonly string[] | undefined;
  /** Skills in use in the turn. */
  readonly skills?: readonly SkillInUse[] | undefined;
}

/** The steps that can decide, in words. */
export const POLICY_STEPS = {
  default: 'no rule limits it',
  internal_only: 'its MCP server, whose tools only those have who are given them by name or group',
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
  global_disabled: "the settings' list of disabled tools",
  tenant_disabled: "the tenant's list of disabled tools",
  agent_disabled: "the agent's list of disabled tools",
  subagent_deny: 'what subagents never have',
  leaf_deny: 'what subagents at the greatest depth never have',
  parent: 'what the parent of this agent has',
  request_allow: "the message's list of allowed tools",
  skill_brings: 'a skill in use, which brings it in',
  skill_hides: 'a skill in use, which names others',
} as const;
export type PolicyStep = keyof typeof POLICY_STEPS;

export interface ToolDecision {
  readonly tool: string;
  readonly allowed: boolean;
  /** The step that decided; `default` when no rule matches the tool. */
  readonly step: PolicyStep;
  /** The pattern or profile of that step; null when a list decides by not containing the tool. */
  readonly rule: string | null;
}

/**
 * Decides on one tool. Lists apply in the order of PO-1; the last step that changed or confirmed the result decides.
 */
export function decideTool(
  tool: PolicyTool,
  layers: PolicyLayers,
  profiles: Profiles = PROFILES,
): ToolDecision {
  let decision = beginning(tool, layers);
  for (const { step, effect, patterns, rule } of stepsOf(layers, profiles)) {
    const hit = patterns.find((pattern) => matchesTool(pattern, tool));
    if (effect === 'only' && decision.allowed)
      decision = { allowed: hit !== undefined, step, rule: rule ?? hit ?? null };
    else if (effect === 'remove' && decision.allowed && hit !== undefined)
      decision = { allowed: false, step, rule: hit };
    else if (effect === 'add' && !decision.allowed && hit !== undefined)
      decision = { allowed: true, step, rule: hit };
  }
  return { tool: tool.name, ...(decision.allowed ? unlessHidden(decision, tool, layers) : decision) };
}

function unlessHidden(
  decision: Omit<ToolDecision, 'tool'>,
  tool: PolicyTool,
  { skills = [] }: PolicyLayers,
): Omit<ToolDecision, 'tool'> {
  const rule = hidingSkills(skills, tool);
  return rule === undefined ? decision : { allowed: false, step: 'skill_hides', rule };
}

/** MC-4: an internal tool is available when an allow list or a skill names it, but not through `*`. */
function beginning(tool: PolicyTool, layers: PolicyLayers): Omit<ToolDecision, 'tool'> {
  const named = [layers.agent?.allow, layers.tenant?.allow, layers.request].flatMap((list) => list ?? []);
  const isNamed = named.some((pattern) => pattern !== '*' && matchesTool(pattern, tool));
  if (tool.isInternal && !isNamed) {
    const bringing = bringingSkill(layers.skills ?? [], tool);
    if (bringing === undefined) return { allowed: false, step: 'internal_only', rule: null };
    return { allowed: true, step: 'skill_brings', rule: bringing };
  }
  return { allowed: true, step: 'default', rule: null };
}

/** Returns a decision for every tool, in the order of the arguments. */
export function explainTools(
  tools: readonly PolicyTool[],
  layers: PolicyLayers,
  profiles: Profiles = PROFILES,
): readonly ToolDecision[] {
  return tools.map((tool) => decideTool(tool, layers, profiles));
}

/** Returns the names that remain, in the order of the arguments, so that equal policies produce equal prompts. */
export function effectiveTools(
  tools: readonly PolicyTool[],
  layers: PolicyLayers,
  profiles: Profiles = PROFILES,
): readonly string[] {
  return explainTools(tools, layers, profiles).flatMap(({ tool, allowed }) => (allowed ? [tool] : []));
}

interface Step {
  readonly step: PolicyStep;
  readonly effect: 'only' | 'remove' | 'add';
  readonly patterns: readonly string[];
  /** The name of the list as a whole, if it has one. */
  readonly rule?: string;
}

function stepsOf(layers: PolicyLayers, profiles: Profiles): readonly Step[] {
  return [...allowSteps(layers, profiles), ...denySteps(layers), ...limitSteps(layers)];
}

function allowSteps(layers: PolicyLayers, profiles: Profiles): readonly Step[] {
  const { global, provider } = layers;
  const ofProvider = fieldOf(global?.by_provider, provider);
  return [
    ...(ofProvider?.profile === undefined
      ? profileStep('global_profile', global?.profile, profiles)
      : profileStep('provider_profile', ofProvider.profile, profiles)),
    ...only('global_allow', global?.allow),
    ...only('provider_allow', ofProvider?.allow),
    ...narrowingSteps('tenant', layers, profiles),
    ...narrowingSteps('agent', layers, profiles),
    ...only('group_allow', layers.group),
  ];
}

/** The allow steps of a layer below the settings: its profile, too, can only remove. */
function narrowingSteps(
  owner: 'tenant' | 'agent',
  layers: PolicyLayers,
  profiles: Profiles,
): readonly Step[] {
  const policy = layers[owner];
  const ofProvider = fieldOf(policy?.by_provider, layers.provider);
  return [
    ...profileStep(`${owner}_profile`, ofProvider?.profile ?? policy?.profile, profiles),
    ...only(`${owner}_allow`, policy?.allow),
    ...only(`${owner}_provider_allow`, ofProvider?.allow),
  ];
}

function denySteps(layers: PolicyLayers): readonly Step[] {
  const isCapability = (pattern: string): boolean => pattern.startsWith(CAPABILITY);
  const stepsFor = (
    list: 'deny' | 'also_allow' | 'disabled',
    effect: Step['effect'],
    isMeant = (_pattern: string) => true,
  ): Step[] =>
    OWNERS.map((owner) => ({
      step: `${owner}_${list}`,
      effect,
      patterns: (layers[owner]?.[list] ?? []).filter(isMeant),
    }));
  const capabilities = OWNERS.flatMap((owner) => layers[owner]?.deny ?? []).filter(isCapability);
  return [
    ...stepsFor('deny', 'remove', (pattern) => !isCapability(pattern)),
    ...stepsFor('also_allow', 'add'),
    // It comes after `also_allow`, so that nothing adds such a tool again.
    { step: 'capability_deny', effect: 'remove', patterns: capabilities },
    ...stepsFor('disabled', 'remove'),
  ];
}

const OWNERS = ['global', 'tenant', 'agent'] as const;

function limitSteps({ subagent, parent, request }: PolicyLayers): readonly Step[] {
  const steps: Step[] = [];
  if (subagent !== undefined)
    steps.push({ step: 'subagent_deny', effect: 'remove', patterns: SUBAGENT_DENY });
  if (subagent === 'leaf') steps.push({ step: 'leaf_deny', effect: 'remove', patterns: LEAF_DENY });
  return [...steps, ...only('parent', parent), ...only('request_allow', request)];
}

function only(step: PolicyStep, patterns: readonly string[] | undefined): readonly Step[] {
  return patterns === undefined ? [] : [{ step, effect: 'only', patterns }];
}

/** An unknown profile contains nothing: it is refused when policies are written, and must not widen a stored one. */
function profileStep(step: PolicyStep, profile: string | undefined, profiles: Profiles): readonly Step[] {
  if (profile === undefined) return [];
  const patterns = Object.hasOwn(profiles, profile) ? profiles[profile] : [];
  return patterns === null ? [] : [{ step, effect: 'only', patterns: patterns ?? [], rule: profile }];
}
