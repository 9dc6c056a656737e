/** What the workflow side, the activities and the plugin share. It is part of workflow bundles: no Node, no I/O. */

/**
 * What happens after a run of an activity was lost: `once` never runs again by itself, the others are retried as the
 * workflow says.
 */
export type Replay = 'readonly' | 'idempotent' | 'once';

/** The guarded activities, by their types. */
export type GuardedTools = Readonly<Record<string, GuardedTool>>;

export interface GuardedTool {
  readonly replay: Replay;
  /** Its name in rules, when the activity's type is none: 1 to 64 letters, digits or `_`, a letter first. */
  readonly name?: string;
  /** Names of its arguments by position, for rules and people. Without them, one object is taken as it is. */
  readonly parameters?: readonly string[];
  /** Keys and other secrets are hidden in its results and failures before Temporal has them; true when absent. */
  readonly scrub?: boolean;
  /**
   * A denied call, and one whose run was lost, return the words as their result, for agents whose tools must not fail:
   * their models read it.
   */
  readonly returnsRefusals?: boolean;
}

/** The activities of the plugin. */
export const ASK = 'tempoclaw.ask';
export const RECORD = 'tempoclaw.record';

/** Header of a guarded activity: its number in the run, or that its run has no guard for it. */
export const HEADER = 'tempoclaw-guard';
export const UNGUARDED = 'unguarded';

export interface Ask {
  /** Number of the guarded call in its run, from 1. */
  readonly number: number;
  readonly tool: string;
  readonly replay: Replay;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Decision {
  readonly decision: 'allowed' | 'denied' | 'answered';
  readonly reason: string | null;
  readonly answer: string | null;
  /** Arguments that a person has put in place of the call's. */
  readonly edited_args: Readonly<Record<string, unknown>> | null;
}

export interface End {
  readonly number: number;
  readonly outcome: 'ok' | 'failed' | 'unknown' | 'not_run';
  readonly code?: string;
  readonly text?: string;
}

export interface GuardActivities {
  [ASK](ask: Ask): Promise<Decision>;
  [RECORD](end: End): Promise<void>;
}

/** Types of the failures that a workflow gets in place of the activity's. */
export const FAILURES = {
  /** A rule or a person has denied the call, and it has not run. */
  denied: 'Denied',
  /** The run of a call that never runs twice was lost. */
  unknown: 'OutcomeUnknown',
  /** The guard cannot judge the call, so that it does not run. */
  refused: 'GuardRefused',
} as const;
