/** Questions that tools ask about sessions and agents, and their answers. */
import type { CallContext } from './tool.ts';

/** One session as tools show it. */
export interface SessionSummary {
  readonly key: string;
  readonly agent: string;
  readonly status: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly title: string | null;
  /** Its title is words of its user, and of nobody else. */
  readonly isTitleOwn: boolean;
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

/** How many calls of this call's tool its turn had begun before it, and that have not ended. */
export type RunningBefore = (call: Pick<CallContext, 'tenant' | 'callId'>) => Promise<number>;

export type SessionCaller = Pick<CallContext, 'tenant' | 'user' | 'sessionKey'>;

/** An agent as tools show it. */
export interface AgentSummary {
  readonly key: string;
  readonly name: string | null;
  readonly model: string;
}
