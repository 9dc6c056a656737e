/**
 * The contract of the `subagent` workflow (SA-*): one run is one subagent, from its start to its result told. Its own work
 * is turns of its own session, which run as children of it.
 */
import type { Thinking } from './thinking.ts';

export const SUBAGENT = {
  type: 'subagent',
  updates: { steer: 'steer' },
  signals: { stop: 'stop', steer: 'steer', ended: 'ended', sessionEnded: 'sessionEnded' },
  queries: { state: 'state' },
} as const;

/** What the action `wait` starts: ends when no subagent of the session runs, or when the time is up. */
export const AWAIT_SUBAGENTS = { type: 'awaitSubagents', signals: { ended: 'ended' } } as const;

export const SUBAGENT_STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timeout',
] as const;
export type SubagentStatus = (typeof SUBAGENT_STATUSES)[number];
export type SubagentEndStatus = Exclude<SubagentStatus, 'queued' | 'running'>;

/** SA-1. */
export const SUBAGENT_LIMITS = {
  concurrent: 8,
  depth: 1,
  children: 5,
  iterations: 20,
  archiveMinutes: 60,
  /** Seconds that one may run when the call that starts it says nothing. */
  timeoutSeconds: 86_400,
} as const;

/** Results that come so soon after each other are told in one message (SA-4), at most so many. */
export const ANNOUNCE = { debounceMs: 1_000, most: 20 } as const;

/** SA-2: between the end of the old one and the start of its replacement. */
export const STEER_SETTLE_MS = 500;
export const STEER_TEXT = 4_000;

/** Seconds that the action `wait` waits unless it says otherwise. */
export const WAIT_SECONDS = 300;

/** How the parent's session is told: in its next turn, or in the one that runs. */
export const ANNOUNCE_MODES = ['queue', 'steer'] as const;
export type AnnounceMode = (typeof ANNOUNCE_MODES)[number];

/** What a turn knows of the subagent that it is of; bound to the subagent's session, so that no message changes it. */
export interface SubagentContext {
  /** 1 is a child of a session that is no subagent's. */
  readonly depth: number;
  /** Starts no more of its own. */
  readonly leaf: boolean;
  readonly id?: string;
  readonly label?: string;
  /** In place of the agent's. */
  readonly model?: string;
  /** The agent's own holds as well. */
  readonly thinking?: Thinking;
  /** Model calls a turn; the agent's own limit holds as well. */
  readonly iterations?: number;
}

export interface SubagentInput {
  readonly tenant: string;
  readonly subagent_id: string;
  readonly session_key: string;
  readonly message_id: string;
  readonly parent_session: string;
  /** Scrubbed; shown in the web UI. */
  readonly label: string;
  readonly agent: string;
  readonly user?: string;
  readonly timeout_seconds: number;
  /** Its session's run was started before it, and tells it of its end; else it starts that itself, as its child. */
  readonly session_beside?: true;
  /** Its session's first step says that it has begun; a run that an older release started asks for it itself. */
  readonly begins_in_session?: true;
  /** It was ended from outside: this run only records that, and tells who waits. */
  readonly lost?: true;
}

/** What a run returns: for people and foreign clients; the whole result is a row. */
export interface SubagentOutcome {
  readonly subagent_id: string;
  readonly status: SubagentEndStatus;
  /** For the turn that waits for it: the result of its call is recorded. */
  readonly ok: boolean;
  readonly recorded: true;
  /** It was steered: this one went on in its place. */
  readonly replaced_by?: string;
}

const SESSION_ENDS = ['completed', 'failed', 'stopped'] as const;

/** How the run of its session ended that was started before it. */
export interface SessionEnded {
  readonly status: (typeof SESSION_ENDS)[number];
  /** At most 500 characters; absent when the turn's row says it. */
  readonly reason?: string;
}

export interface TellSessionEndInput extends SessionEnded {
  readonly tenant: string;
  readonly subagent_id: string;
}

export interface StopSubagentInput {
  readonly by?: string;
  readonly reason?: string;
  /** Its end is not told to the parent, which knows. */
  readonly silent?: boolean;
}

export interface SteerSubagentInput {
  /** What the replacement is to do. */
  readonly message: string;
  readonly by?: string;
}

export interface SteerSubagentReceipt {
  readonly subagent_id: string;
  readonly replaced_by: string;
}

export interface SubagentState {
  readonly subagent_id: string;
  readonly status: SubagentStatus;
  readonly label: string;
  readonly session_key: string;
  /** Of the session's turns. */
  readonly workflow_id: string;
  readonly replaced_by?: string;
}

export interface FinishSubagentInput {
  readonly tenant: string;
  readonly subagent_id: string;
  readonly status: SubagentEndStatus;
  readonly reason?: string;
  readonly by?: string;
  readonly silent?: boolean;
  readonly next?: { readonly subagent_id: string; readonly message: string };
  readonly lost?: true;
}

/** Of the first finish, however often it is repeated. */
export interface FinishedSubagent {
  /** It goes on: subagents of its own run, or its session has yet to hear of them. Nothing is recorded. */
  readonly pending?: true;
  readonly status: SubagentEndStatus;
  readonly ok: boolean;
  /** Results that nobody has told the parent yet, this one among them; 0 when this one is told. */
  readonly untold: number;
  /** Workflows that wait for its end. */
  readonly waiters: readonly string[];
  /** The subagent whose session was told: it may have waited for this one. */
  readonly parent?: string;
  readonly next?: { readonly input: SubagentInput; readonly wait: boolean };
}

export interface CollectSubagentsInput {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  readonly call: string;
  /** Workflow id to be signalled at the end of each that runs. */
  readonly waiter: string;
  /** The time is up: answer with what there is. */
  readonly last?: true;
  readonly seconds: number;
}

export interface SubagentActivities {
  /** False when it must not begin: it was cancelled before, or its row is gone. */
  begin_subagent(input: { readonly tenant: string; readonly subagent_id: string }): Promise<boolean>;
  finish_subagent(input: FinishSubagentInput): Promise<FinishedSubagent>;
  /** Resolves when its workflow has it, or has ended. */
  tell_session_end(input: TellSessionEndInput): Promise<void>;
  announce_subagents(input: { readonly tenant: string; readonly subagent_id: string }): Promise<void>;
  /** Number that still run; at 0 (or at the last) the result of the call is recorded. */
  collect_subagents(input: CollectSubagentsInput): Promise<number>;
}

/** Whoever may signal the workflow may send anything. */
export function isSessionEnd(given: unknown): given is SessionEnded {
  const { status, reason } = (given ?? {}) as Partial<Record<keyof SessionEnded, unknown>>;
  return (
    SESSION_ENDS.some((end) => end === status) &&
    (reason === undefined || (typeof reason === 'string' && reason.length <= 500))
  );
}

/** Undefined when the payload says what to do instead; else what is wrong with it. */
export function steerProblem(input: unknown): string | undefined {
  const message = (input as Partial<SteerSubagentInput> | null | undefined)?.message;
  if (typeof message !== 'string' || message.trim() === '') return 'message is required for action=steer';
  if (message.includes('\0') || !message.isWellFormed() || message.length > 65_536)
    return 'message must be plain text of at most 65536 characters';
  return undefined;
}
