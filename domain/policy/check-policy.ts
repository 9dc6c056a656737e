/**
 * Finds what is wrong with a policy before it is used (PO-2). Unknown profiles and groups are refused when the policy
 * is written. A name that no present tool has is a warning, because tools of MCP servers and of tenants come and go.
 */
import type { ToolPolicy } from '#domain/agent.ts';
import { profileProblem } from './profiles.ts';
import { nearest } from '../text/nearest-name.ts';
import { CAPABILITY, isNativeGroup, matchesTool, patternProblem, type PolicyTool } from './tool-groups.ts';

export interface PolicyProblem {
  /** The position in the policy, as keys and indexes. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export function policyProblems(policy: ToolPolicy): readonly PolicyProblem[] {
  return [
    ...profileProblems(policy.profile, []),
    ...patternsOf(policy).flatMap(({ pattern, path }) => {
      const message = patternProblem(pattern);
      return message === undefined ? [] : [{ path, message }];
    }),
    ...Object.entries(policy.by_provider ?? {}).flatMap(([provider, layer]) =>
      profileProblems(layer.profile, ['by_provider', provider]),
    ),
  ];
}

/**
 * Rules that do what they say but perhaps not what was meant. They are warnings for people, not errors. `tools` are the
 * present tools; without them names are not checked.
 */
export function policyWarnings(policy: ToolPolicy, tools?: readonly PolicyTool[]): readonly PolicyProblem[] {
  const denied = new Set(policy.deny);
  const allowedAgain = (policy.also_allow ?? []).flatMap((pattern, at) =>
    denied.has(pattern)
      ? [
          {
            path: ['also_allow', at],
            message: `"${pattern}" is denied and given back: also_allow wins over deny`,
          },
        ]
      : [],
  );
  return tools === undefined ? allowedAgain : [...allowedAgain, ...unmatchedPatterns(policy, tools)];
}

/** Names that occur only in GoClaw's deny lists: no version of GoClaw has a tool of that name. */
const RESERVED_NAMES = ['whatsapp_login'];

function unmatchedPatterns(policy: ToolPolicy, tools: readonly PolicyTool[]): readonly PolicyProblem[] {
  const names = tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]);
  return patternsOf(policy).flatMap(({ pattern, path }) => {
    if (pattern.startsWith(CAPABILITY) || pattern === '*' || RESERVED_NAMES.includes(pattern)) return [];
    if (isNativeGroup(pattern) || tools.some((tool) => matchesTool(pattern, tool))) return [];
    const near = nearest(pattern, names);
    const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    return [{ path, message: `"${pattern}" matches no tool that there is now${hint}` }];
  });
}

interface PlacedPattern {
  readonly pattern: string;
  readonly path: PolicyProblem['path'];
}

/** All tool patterns of a policy. */
function patternsOf(policy: ToolPolicy): readonly PlacedPattern[] {
  const listed = (patterns: readonly string[] | undefined, path: PolicyProblem['path']): PlacedPattern[] =>
    (patterns ?? []).map((pattern, at) => ({ pattern, path: [...path, at] }));
  return [
    ...(['allow', 'deny', 'also_allow', 'disabled'] as const).flatMap((list) => listed(policy[list], [list])),
    ...(['rules', 'ask'] as const).flatMap((list) =>
      (policy[list] ?? []).flatMap((rule, at) => [
        { pattern: rule.tool, path: [list, at, 'tool'] },
        ...listed(rule.after, [list, at, 'after']),
      ]),
    ),
    ...Object.entries(policy.by_provider ?? {}).flatMap(([provider, layer]) =>
      listed(layer.allow, ['by_provider', provider, 'allow']),
    ),
  ];
}

function profileProblems(
  profile: string | undefined,
  path: readonly (string | number)[],
): readonly PolicyProblem[] {
  const message = profile === undefined ? undefined : profileProblem(profile);
  return message === undefined ? [] : [{ path: [...path, 'profile'], message }];
}
