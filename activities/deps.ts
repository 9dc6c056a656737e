/** What the tools need of the world. Each tool states its part by `Pick<Deps, …>`; workers/ builds the whole. */
import type { Receipt } from '#domain/turn.ts';
import type { RunningCall } from './define-tool.ts';
import type { DelegationDesk } from './delegation-desk.ts';
import type { EvaluationDesk } from './evaluation-desk.ts';
import type { HandoffDesk } from './handoff-desk.ts';
import type { Processes } from './process/background.ts';
import type { Shell } from './process/shell.ts';
import type { SecureClis } from './secure-cli/secure-clis.ts';
import type { SubagentDesk } from './subagent-desk.ts';
import type { TeamDesk } from './team-desk.ts';
import type { Files } from './workspace/files.ts';

/** One session as tools show it. */
export interface SessionSummary {
  readonly key: string;
  readonly agent: string;
  readonly status: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly title: string | null;
}

export interface HistoryEntry {
  readonly role: string;
  readonly text: string;
  readonly created_at: string;
  readonly tool?: string;
}

/**
 * Read-only questions about sessions, always within the caller's tenant, and for a caller that works for a user within that
 * user's sessions unless the settings share them (IN-9). To others than these, `user` is null.
 */
export interface SessionQueries {
  list(
    caller: SessionCaller,
    options: { limit: number; activeMinutes?: number; agent?: string },
  ): Promise<readonly SessionSummary[]>;
  /** Newest `limit` entries, oldest first; undefined when there is no such session. */
  history(
    caller: SessionCaller,
    sessionKey: string,
    options: { limit: number; includeTools: boolean },
  ): Promise<readonly HistoryEntry[] | undefined>;
  /** By key. */
  agents(tenant: string, limit: number): Promise<readonly AgentSummary[]>;
  /** Keys of the sessions of this agent, and this user unless they are shared, that have the key, or the label in their titles; at most 10. */
  addressees(
    tenant: string,
    wanted: {
      readonly agent: string;
      readonly user: string | null;
      readonly key?: string;
      readonly label?: string;
    },
  ): Promise<readonly string[]>;
  status(
    caller: SessionCaller,
    sessionKey: string,
  ): Promise<Readonly<Record<string, string | number | null>> | undefined>;
}

export type SessionCaller = Pick<RunningCall, 'tenant' | 'user' | 'sessionKey'>;

/** An agent as tools show it. */
export interface AgentSummary {
  readonly key: string;
  readonly name: string | null;
  readonly model: string;
}

export interface Deps {
  readonly sessions: SessionQueries;
  /** Milliseconds since 1970; a dependency so that tests can set it. */
  readonly now: () => number;
  /** Files in the caller's workspace. */
  readonly files: Files;
  /** Commands that end with the call. */
  readonly shell: Shell;
  /** Commands that outlive it, each owned by its session. */
  readonly processes: Processes;
  /** Programs with credentials. */
  readonly secureClis: SecureClis;
  /** Agents that the caller starts, of its session only. */
  readonly subagents: SubagentDesk;
  /** The boards and mail of the teams that the caller is in. */
  readonly teams: TeamDesk;
  /** Work that the caller gives to other agents. */
  readonly delegations: DelegationDesk;
  /** Rounds of making and judging. */
  readonly evaluations: EvaluationDesk;
  /** Conversations that go on with another agent. */
  readonly handoffs: HandoffDesk;
  /** Says something in another session, once a call. */
  readonly sendToSession: (
    call: Pick<RunningCall, 'tenant' | 'user' | 'sessionKey' | 'turnId' | 'callId' | 'toolsGiven'>,
    session: string,
    text: string,
  ) => Promise<Receipt>;
}

/** Those that reach other workflows are made by the worker itself. */
export type WorldDeps = Omit<
  Deps,
  'subagents' | 'teams' | 'delegations' | 'evaluations' | 'handoffs' | 'sendToSession'
>;
