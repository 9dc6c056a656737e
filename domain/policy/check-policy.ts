/** What is wrong with a policy before it is used: unknown profiles and groups are refused where it is written (PO-2). */
import type { ToolPolicy } from '#domain/agent.ts';
import { profileProblem } from './profiles.ts';
import { patternProblem } from './tool-groups.ts';

export interface PolicyProblem {
  /** Where in the policy, as keys and indexes. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export function policyProblems(policy: ToolPolicy): readonly PolicyProblem[] {
  return [
    ...profileProblems(policy.profile, []),
    ...listProblems(policy.allow, ['allow']),
    ...listProblems(policy.deny, ['deny']),
    ...listProblems(policy.also_allow, ['also_allow']),
    ...(['rules', 'ask'] as const).flatMap((list) =>
      (policy[list] ?? []).flatMap((rule, at) => [
        ...patternProblems(rule.tool, [list, at, 'tool']),
        ...listProblems(rule.after, [list, at, 'after']),
      ]),
    ),
    ...Object.entries(policy.by_provider ?? {}).flatMap(([provider, layer]) => [
      ...profileProblems(layer.profile, ['by_provider', provider]),
      ...listProblems(layer.allow, ['by_provider', provider, 'allow']),
    ]),
  ];
}

/** Rules that do what they say and perhaps not what was meant; for people, none is an error. */
export function policyWarnings(policy: ToolPolicy): readonly PolicyProblem[] {
  const denied = new Set(policy.deny);
  return (policy.also_allow ?? []).flatMap((pattern, at) =>
    denied.has(pattern)
      ? [
          {
            path: ['also_allow', at],
            message: `"${pattern}" is denied and given back: also_allow wins over deny`,
          },
        ]
      : [],
  );
}

function profileProblems(
  profile: string | undefined,
  path: readonly (string | number)[],
): readonly PolicyProblem[] {
  const message = profile === undefined ? undefined : profileProblem(profile);
  return message === undefined ? [] : [{ path: [...path, 'profile'], message }];
}

function listProblems(
  patterns: readonly string[] | undefined,
  path: readonly (string | number)[],
): readonly PolicyProblem[] {
  return (patterns ?? []).flatMap((pattern, at) => patternProblems(pattern, [...path, at]));
}

function patternProblems(pattern: string, path: readonly (string | number)[]): readonly PolicyProblem[] {
  const message = patternProblem(pattern);
  return message === undefined ? [] : [{ path, message }];
}
