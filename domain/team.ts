/** What a team is (TE-1): a lead, members, settings, and the names that follow from its key. */
import type { teamSettingsSchema } from './resource/teams.ts';
import type { Kept } from './schema/scalars.ts';

export const TEAM_LIMITS = {
  members: 50,
  blockers: 50,
  /** Characters. */
  subject: 300,
  description: 65_536,
  text: 65_536,
  /** Of a blocker's reason, as the lead is told it. */
  reason: 500,
  /** Of an attachment that team_tasks shares. */
  fileBytes: 10_485_760,
  /** Times that one task is given to its member before it fails. */
  dispatches: 3,
  /** Leases that run out before a task is stale. */
  expiries: 3,
  /** Of a claim that says nothing. */
  leaseSeconds: 3_600,
  longestLeaseSeconds: 86_400,
  listPage: 30,
  searchPage: 5,
  mailPage: 50,
} as const;

/** Who may bring work to the team, and what its lead hears of it. Settings that are not of this shape refuse everybody. */
export type TeamSettings = Kept<typeof teamSettingsSchema>;

export interface Team {
  readonly key: string;
  readonly name: string | null;
  readonly description: string | null;
  /** An agent's key. */
  readonly lead: string;
  /** Agents' keys, without the lead's. */
  readonly members: readonly string[];
  readonly settings: TeamSettings;
}

/** What a member's turn knows of the task that it is for. */
export interface TeamContext {
  readonly key: string;
  readonly number: number;
  readonly member: string;
  /** Of the lease that the turn was started with. */
  readonly fence: number;
  /** The task was made within a judgement, where no gates run (DE-6). */
  readonly ungated?: true;
}

export type TeamRole = 'lead' | 'member';

export function roleIn(team: Pick<Team, 'lead' | 'members'>, agent: string): TeamRole | undefined {
  if (agent === team.lead) return 'lead';
  return team.members.includes(agent) ? 'member' : undefined;
}

/** The team's part of its tasks' workflow ids; a tenant's name has no dot, so it names one team over all tenants. */
export function teamIdOf(tenant: string, team: string): string {
  return `${tenant}.${team}`;
}

/** `[+]` part of docs/temporal-contract.md. */
export function taskWorkflowId(tenant: string, team: string, number: number): string {
  return `task/${teamIdOf(tenant, team)}/${number}`;
}

/** Unique within a tenant: a team's key has no dot. */
export function taskIdOf(team: string, number: number): string {
  return `task_${team}.${number}`;
}

/** Where a member works on a task; what it said there is there again when the task comes back to it. */
export function taskSessionKey(team: string, number: number, member: string): string {
  return `team:${team}:${number}:${member}`;
}

/** Where a team's lead hears of tasks that no turn of its own has made. */
export function leadSessionKey(team: string, lead: string): string {
  return `team:${team}:lead:${lead}`;
}

/** All members work on the same files. */
export function teamWorkspace(team: string): string {
  return `team-${team}`;
}

const TASK_ID = /^(?:task_([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.|#)?([1-9]\d{0,8})$/;

/** `task_report.7`, `#7` or `7`; the team is absent when only a number is said. Undefined when it is none of these. */
export function readTaskRef(
  text: string,
): { readonly team: string | undefined; readonly number: number } | undefined {
  const match = TASK_ID.exec(text.trim());
  return match ? { team: match[1], number: Number(match[2]) } : undefined;
}
