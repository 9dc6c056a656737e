/**
 * PO-2: the named starting sets of tools, as in GoClaw's newest seed (000), plus `tool_search`; and one profile that
 * has rules on calls (PO-5).
 */
import type { CallRule } from '../agent.ts';

/** Null means every tool. */
export type Profiles = Readonly<Record<string, readonly string[] | null>>;

export const PROFILES = {
  full: null,
  coding: [
    'group:fs',
    'group:runtime',
    'group:sessions',
    'group:memory',
    'group:web',
    'group:knowledge',
    'group:media_gen',
    'group:media_read',
    'group:skills',
    // It finds what the agent has anyway; without it each prompt would contain all of those tools.
    'tool_search',
  ],
  messaging: [
    'group:messaging',
    'group:web',
    'group:sessions',
    'group:media_read',
    'skill_search',
    'tool_search',
  ],
  minimal: ['session_status'],
  careful: null,
} as const satisfies Profiles;

const OUTSIDE = ['capability:outside'];
const CARRIES = 'profile careful: the address may carry out what was read';

/** They come after the rules of the policy that names the profile, so that those can make exceptions. */
export const PROFILE_RULES: Readonly<Record<string, readonly CallRule[]>> = {
  careful: [
    // These change the workspace, the team's board, or nothing.
    ...['group:fs', 'group:teams', 'wait'].map((tool) => ({ tool, decision: 'allow' }) as const),
    ...['list', 'poll', 'log'].map(
      (action) => ({ tool: 'process', args: { action }, decision: 'allow' }) as const,
    ),
    // The child runs under the same rules, and with what has been read until now.
    { tool: 'spawn', decision: 'allow' },
    { tool: 'capability:outside', address: 'new', after: OUTSIDE, decision: 'ask', reason: CARRIES },
    // A header can carry as much data as an address.
    { tool: 'group:web', args: { headers: '*"*' }, after: OUTSIDE, decision: 'ask', reason: CARRIES },
    {
      tool: 'capability:mutating',
      after: OUTSIDE,
      decision: 'ask',
      reason: 'profile careful: it acts, and something from outside was read',
    },
  ],
};

export function profileProblem(profile: string): string | undefined {
  if (Object.hasOwn(PROFILES, profile)) return undefined;
  return `there is no profile "${profile}"; there are ${Object.keys(PROFILES).join(', ')}`;
}
