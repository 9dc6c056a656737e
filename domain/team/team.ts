/** What a team is (TE-1): a lead, members, settings, and the names that follow from its key. */
import type { teamSettingsSchema } from '../resource/teams.ts';
import type { Kept } from '../schema/scalars.ts';

export const TEAM_LIMITS = {
  members: 50,
  blockers: 50,
  /** Characters. */
  subject: 300,
  description: 65_536,
  text: 65_536,
  /** Characters of a blocker's reason in the lead's message. */
  reason: 500,
  /** Bytes of an attachment that team_tasks shares. */
  fileBytes: 10_485_760,
  /** How often a task is given to its member before it fails. */
  dispatches: 3,
  /** Number of expired leases after which a task is stale. */
  expiries: 3,
  /** Duration of a claim that sets none. */
  leaseSeconds: 3_600,
  longestLeaseSeconds: 86_400,
  /** The lease of delegated work outlasts the work, whose end is recorded before the task's. */
  lateSeconds: 3_600,
  listPage: 30,
  searchPage: 5,
  mailPage: 50,
} as const;

/** Who may send work to the team, and what its lead is notified of. Settings of another shape refuse everybody. */
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

/** What a member's turn knows about its task. */
export interface TeamContext {
  readonly key: string;
  readonly number: number;
  readonly member: string;
  /** Fence of the lease that the turn was started with. */
  readonly fence: number;
  /** The task was created within a judgement, where no gates run (DE-6). */
  readonly ungated?: true;
}

export type TeamRole = 'lead' | 'member';

export function roleIn(team: Pick<Team, 'lead' | 'members'>, agent: string): TeamRole | undefined {
  if (agent === team.lead) return 'lead';
  return team.members.includes(agent) ? 'member' : undefined;
}

/**
 * The team's part of its tasks' workflow ids. A tenant's name contains no dot, so it identifies one team across all
 * tenants.
 */
export function teamIdOf(tenant: string, team: string): string {
  return `${tenant}.${team}`;
}

/** `[+]` part of docs/temporal-contract.md. */
export function taskWorkflowId(tenant: string, team: string, number: number): string {
  return `task/${teamIdOf(tenant, team)}/${number}`;
}

/** Unique within a tenant, because a team's key contains no dot. */
export function taskIdOf(team: string, number: number): string {
  return `task_${team}.${number}`;
}

/** Key of the session where a member works on a task; its transcript is still there when the task comes back. */
export function taskSessionKey(team: string, number: number, member: string): string {
  return `team:${team}:${number}:${member}`;
}

/** The sessions whose text is in a task: its creator's, those of its members, and others that have written to it. */
export function sessionsOfTask(
  team: string,
  task: {
    readonly number: number;
    readonly origin_session?: string | null;
    readonly assignee?: string | null;
    readonly owner: string | null;
    readonly writers: readonly string[];
  },
): readonly string[] {
  const members = [task.assignee, task.owner].flatMap((member) =>
    member ? taskSessionKey(team, task.number, member) : [],
  );
  return [...new Set([task.origin_session ?? [], members, task.writers].flat())];
}

/** Key of the session that messages of teammates wake. */
export function mailSessionKey(team: string, member: string): string {
  return `team:${team}:mail:${member}`;
}

/** Key of the session where a team's lead reads about tasks that no turn of its own has created. */
export function leadSessionKey(team: string, lead: string): string {
  return `team:${team}:lead:${lead}`;
}

/** All members use the same files. */
export function teamWorkspace(team: string): string {
  return `team-${team}`;
}

const TASK_ID = /^(?:task_([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.|#)?([1-9]\d{0,8})$/;

/** Reads `task_report.7`, `#7` or `7`; the team is absent when there is only a number. Undefined for anything else. */
export function readTaskRef(
  text: string,
): { readonly team: string | undefined; readonly number: number } | undefined {
  const match = TASK_ID.exec(text.trim());
  return match ? { team: match[1], number: Number(match[2]) } : undefined;
}
