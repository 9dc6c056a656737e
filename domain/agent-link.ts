/**
 * Who may hand work to whom (DE-1): a link between two agents with a direction, a limit of its own and a list of users
 * (link-user.ts).
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
  /** Delegations over the link at once; 0: no limit of its own. */
  readonly max_concurrent: number;
  /** As the row holds it, which somebody may have written by hand. */
  readonly settings: unknown;
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

export const LINK_WORDS = {
  noTarget: (target: string) => `target agent "${target}" not found`,
  noLink: (target: string) => `no delegation link from this agent to "${target}"`,
  linkFull: (target: string, have: number, max: number) =>
    `delegation link to "${target}" is at capacity (${have}/${max} active). Try again later or handle the task yourself`,
  /** The first sentences are DE-1's. */
  agentFull: (target: string, have: number, max: number) =>
    `Agent at capacity (${have}/${max}). Try a different agent or handle it yourself. You can also wait and retry: agent "${target}" is at capacity (${have}/${max} active delegations)`,
} as const;
