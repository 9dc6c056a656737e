/**
 * Subagents (SA-*): their limits, what a turn knows about the subagent it belongs to, steering one and waiting for
 * them.
 */
import { isText } from '../outside-value.ts';
import type { Thinking } from '../model/thinking.ts';

/** The workflow that the action `wait` starts: it ends when no subagent of the session runs, or when the time is up. */
export const AWAIT_SUBAGENTS = { type: 'awaitSubagents', signals: { ended: 'ended' } } as const;

/** Limits of SA-1. */
export const SUBAGENT_LIMITS = {
  concurrent: 8,
  depth: 1,
  children: 5,
  iterations: 20,
  archiveMinutes: 60,
  /** Seconds that a subagent may run, by default. */
  timeoutSeconds: 86_400,
} as const;

/** SA-2: milliseconds between the end of the old subagent and the start of its replacement. */
export const STEER_SETTLE_MS = 500;
export const STEER_TEXT = 4_000;

/** Seconds that the action `wait` waits, by default. */
export const WAIT_SECONDS = 300;

/** How the parent's session reads the result: in its next turn, or in the one that runs. */
export const ANNOUNCE_MODES = ['queue', 'steer'] as const;
export type AnnounceMode = (typeof ANNOUNCE_MODES)[number];

/**
 * What a turn knows about the subagent it belongs to. It is bound to the subagent's session, so no message changes it.
 */
export interface SubagentContext {
  /** 1 for a child of an ordinary session. */
  readonly depth: number;
  /** It may not start subagents. */
  readonly leaf: boolean;
  readonly id?: string;
  readonly label?: string;
  /** The session that started it. */
  readonly session?: string;
  /** The session that started the topmost subagent above it; the workspace may belong to it. */
  readonly root?: string;
  /** Replaces the agent's model. */
  readonly model?: string;
  /** The agent's own level limits it too. */
  readonly thinking?: Thinking;
  /** Model calls of a turn; the agent's own limit applies too. */
  readonly iterations?: number;
}

export interface SteerSubagentInput {
  /** The instructions for the replacement. */
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
  /** Id of the workflow that is signalled at the end of each subagent that runs. */
  readonly waiter: string;
  /** The time is up: return what has ended. */
  readonly last?: true;
  readonly seconds: number;
}

/** Undefined when the payload contains new instructions; otherwise what is wrong with it. */
export function steerProblem(input: unknown): string | undefined {
  const message = (input as Partial<SteerSubagentInput> | null | undefined)?.message;
  if (typeof message !== 'string' || message.trim() === '') return 'message is required for action=steer';
  return isText(message, 65_536) ? undefined : 'message must be plain text of at most 65536 characters';
}
