/** DU-6. A fork: what is asked for, its limits, and the workflow that makes it. */
import type { ModelAnswer } from '#domain/model/model.ts';

export const FORK_SESSION = { type: 'forkSession' } as const;

export function forkWorkflowId(tenant: string, session: string): string {
  return `fork/${tenant}/${session}`;
}

/** `session` is the key of the session that is made. */
export interface ForkSessionInput {
  readonly tenant: string;
  readonly session: string;
}

export interface ForkActivities {
  /**
   * Makes the fork: its files, then its rows in one commit, then its run. Safe to repeat, also concurrently. Never
   * fails for what the request is about: the row says why there is no fork.
   */
  fork_session(input: ForkSessionInput): Promise<ForkOutcome>;
}

export interface ForkOutcome {
  readonly status: 'done' | 'failed';
  readonly turn_id: string | null;
  readonly code?: string;
}

/** Greatest size of what is copied. `seconds`: for the files. */
export const FORK_LIMITS = {
  messages: 20_000,
  calls: 10_000,
  textBytes: 128 * 1024 * 1024,
  files: 100_000,
  fileBytes: 4 * 1024 ** 3,
  depth: 100,
  seconds: 120,
} as const;

/** Calls that an answer of a fork names; the rest is counted. */
export const MAX_NAMED = 100;

/** What is given in place of what was recorded. */
export interface ForkInput {
  readonly message?: string;
  readonly answer?: Pick<ModelAnswer, 'text' | 'calls'>;
}

/** A call after the fork whose changes of the workspace are still in the copy. */
export interface CallNotPutBack {
  /** Of the original session. */
  readonly call_id: string;
  readonly tool: string;
  /** The call in one line, scrubbed. */
  readonly summary: string;
  readonly reason: string;
}

export interface ForkResult {
  readonly turns: number;
  readonly calls: number;
  readonly files: number;
  readonly bytes: number;
  /** Files that are as they were at the step. */
  readonly put_back: number;
  /** At most MAX_NAMED. */
  readonly not_put_back: readonly CallNotPutBack[];
  readonly not_put_back_total: number;
}
