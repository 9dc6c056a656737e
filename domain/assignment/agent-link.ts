/**
 * Which agents may delegate work to each other (DE-1): a link between two agents has a direction, a limit and a list of
 * users (link-user.ts).
 */

export const LINK_DIRECTIONS = ['outbound', 'inbound', 'bidirectional'] as const;
export type LinkDirection = (typeof LINK_DIRECTIONS)[number];

export const LINK_STATUSES = ['active', 'disabled'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

export const LINK_LIMITS = { users: 1_000, concurrent: 1_000, description: 2_000 } as const;

export interface AgentLink {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly direction: LinkDirection;
  readonly status: LinkStatus;
  /** Greatest number of delegations over the link at once; 0 means that the link has no limit of its own. */
  readonly max_concurrent: number;
  /** The settings as the row contains them; somebody may have written them by hand. */
  readonly settings: unknown;
}

/** Whether work may go over the link from one agent to the other. The link's list of users is checked separately. */
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

export const LINK_WORDS = {
  noTarget: (target: string) => `target agent "${target}" not found`,
  noLink: (target: string) => `no delegation link from this agent to "${target}"`,
  linkFull: (target: string, have: number, max: number) =>
    `delegation link to "${target}" is at capacity (${have}/${max} active). Try again later or handle the task yourself`,
  /** DE-1 prescribes the beginning; what follows is GoClaw's text, which names the agent. */
  agentFull: (target: string, have: number, max: number) =>
    `Agent at capacity (${have}/${max}). Try a different agent or handle it yourself. In full: agent "${target}" is at capacity (${have}/${max} active delegations). Either wait and retry, use a different agent, or handle the task yourself`,
} as const;
