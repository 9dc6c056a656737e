/** Queries about sessions and agents that tools make, and their results. */
import type { CallContext } from '../tool.ts';

/** One session as tools show it. */
export interface SessionSummary {
  readonly key: string;
  readonly agent: string;
  readonly status: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly title: string | null;
  /** Its title contains only text of its user. */
  readonly isTitleOwn: boolean;
}

export interface HistoryEntry {
  readonly role: string;
  readonly text: string;
  readonly created_at: string;
  readonly tool?: string;
}

/**
 * Read-only queries about sessions, always within the caller's tenant. A caller that works for a user sees only that
 * user's sessions, unless the settings share them (IN-9). For other sessions `user` is null.
 */
export interface SessionQueries {
  list(
    caller: SessionCaller,
    options: { limit: number; activeMinutes?: number; agent?: string },
  ): Promise<readonly SessionSummary[]>;
  /** Newest `limit` entries, oldest first; undefined when the session does not exist. */
  history(
    caller: SessionCaller,
    sessionKey: string,
    options: { limit: number; includeTools: boolean },
  ): Promise<readonly HistoryEntry[] | undefined>;
  /** The agents in the order of their keys. */
  agents(tenant: string, limit: number): Promise<readonly AgentSummary[]>;
  /**
   * Keys of this agent's sessions that have this key, or this label in their titles; at most 10. They are limited to
   * this user unless sessions are shared.
   */
  addressees(
    tenant: string,
    required: {
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

/** How many earlier calls of this call's tool in its turn have not ended. */
export type RunningBefore = (call: Pick<CallContext, 'tenant' | 'callId'>) => Promise<number>;

export type SessionCaller = Pick<CallContext, 'tenant' | 'user' | 'sessionKey'>;

/** An agent as tools show it. */
export interface AgentSummary {
  readonly key: string;
  readonly name: string | null;
  readonly model: string;
}
