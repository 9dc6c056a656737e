/**
 * Who may hand work to whom (DE-1): a link between two agents with a direction, a limit of its own and a list of users. What
 * cannot be read refuses: a link whose settings are broken is no open door.
 */
import type { linkSettingsSchema } from './resource/agent-links.ts';
import type { Kept } from './schema/scalars.ts';

export const LINK_DIRECTIONS = ['outbound', 'inbound', 'bidirectional'] as const;
export type LinkDirection = (typeof LINK_DIRECTIONS)[number];

export const LINK_STATUSES = ['active', 'disabled'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

export const LINK_LIMITS = { users: 1_000, concurrent: 1_000, description: 2_000 } as const;

/** Deny wins over allow; an allow list that is there lets nobody else through, an empty one nobody at all. */
export type LinkSettings = Kept<typeof linkSettingsSchema>;

export interface AgentLink {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly direction: LinkDirection;
  readonly status: LinkStatus;
  /** Delegations over the link at once; 0: no limit of its own. */
  readonly max_concurrent: number;
  /** As the row holds it, which somebody may have written by hand. */
  readonly settings: unknown;
}

/** On whose behalf the agent acts. */
export interface LinkUser {
  readonly user: string | null;
  readonly roles: readonly string[];
}

/** Whether work may go over the link from one agent to the other; its users are another question. */
export function linkLeads(
  link: Pick<AgentLink, 'source' | 'target' | 'direction' | 'status'>,
  from: string,
  to: string,
): boolean {
  if (link.status !== 'active') return false;
  if (link.source === from && link.target === to) return link.direction !== 'inbound';
  if (link.source === to && link.target === from) return link.direction !== 'outbound';
  return false;
}

/** Undefined when the user may use the link; else why not, in words for a model. */
export function refuseUser(link: AgentLink, to: string, { user, roles }: LinkUser): string | undefined {
  const settings = readLinkSettings(link.settings);
  if (settings === undefined)
    return `the settings of the delegation link to "${to}" cannot be read, so nobody may use it until they are put right`;
  const { user_allow: allow, user_deny: deny, require_role: role } = settings;
  const isDenied = user !== null && (deny ?? []).includes(user);
  const isMissing = allow !== undefined && (user === null || !allow.includes(user));
  // Where there is a list, whose turn it is matters: nobody knows whether a nameless caller is one of those who are denied.
  const isUnknown = user === null && deny !== undefined;
  if (isDenied || isMissing || isUnknown || (role !== undefined && !roles.includes(role)))
    return 'you are not authorized to use this delegation link';
  return undefined;
}

/** Undefined when they are not what a link's settings can be. */
export function readLinkSettings(given: unknown): LinkSettings | undefined {
  if (given === null || given === undefined) return {};
  if (typeof given !== 'object' || Array.isArray(given)) return undefined;
  const { user_allow, user_deny, require_role, ...others } = given as Record<string, unknown>;
  if (Object.keys(others).length > 0) return undefined;
  if (!isNames(user_allow) || !isNames(user_deny)) return undefined;
  if (require_role !== undefined && (typeof require_role !== 'string' || require_role === ''))
    return undefined;
  return { user_allow, user_deny, require_role };
}

function isNames(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every((name) => typeof name === 'string'));
}

export const LINK_WORDS = {
  noTarget: (target: string) => `target agent "${target}" not found`,
  noLink: (target: string) => `no delegation link from this agent to "${target}"`,
  linkFull: (target: string, have: number, most: number) =>
    `delegation link to "${target}" is at capacity (${have}/${most} active). Try again later or handle the task yourself`,
  /** The first sentences are DE-1's. */
  agentFull: (target: string, have: number, most: number) =>
    `Agent at capacity (${have}/${most}). Try a different agent or handle it yourself. You can also wait and retry: agent "${target}" is at capacity (${have}/${most} active delegations)`,
} as const;
