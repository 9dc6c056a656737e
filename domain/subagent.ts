/** Subagents (SA-*): their limits, what a turn knows of the one that it is of, steering one and waiting for them. */
import { isText } from './outside-value.ts';
import type { Thinking } from './thinking.ts';

/** What the action `wait` starts: ends when no subagent of the session runs, or when the time is up. */
export const AWAIT_SUBAGENTS = { type: 'awaitSubagents', signals: { ended: 'ended' } } as const;

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
  /** That started it. */
  readonly session?: string;
  /** That started the first of those above it; the workspace may be its. */
  readonly root?: string;
  /** In place of the agent's. */
  readonly model?: string;
  /** The agent's own holds as well. */
  readonly thinking?: Thinking;
  /** Model calls a turn; the agent's own limit holds as well. */
  readonly iterations?: number;
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

/** Undefined when the payload says what to do instead; else what is wrong with it. */
export function steerProblem(input: unknown): string | undefined {
  const message = (input as Partial<SteerSubagentInput> | null | undefined)?.message;
  if (typeof message !== 'string' || message.trim() === '') return 'message is required for action=steer';
  return isText(message, 65_536) ? undefined : 'message must be plain text of at most 65536 characters';
}
