/** Work that was handed in for a task and that gates have yet to let pass (DE-6). Part of a task's state. */
import type { ShownGate } from '../gate.ts';

/** What is handed in stays out of sight until it has passed. */
export interface TaskJudging {
  /** What the checks are recorded under; a new one for each time that work is handed in. */
  readonly of: string;
  /** What comes of it when it passes: completed, or put to the lead. */
  readonly action: 'complete' | 'review';
  /** Who has handed it in, for the audit. */
  readonly actor: string;
  /** Row of the handed in text; null: the task's result as it is. */
  readonly text_id: string | null;
  /** Whose gates judge. */
  readonly member: string;
  /** Of that agent, as its gates were then. */
  readonly agent_revision: number;
  readonly gates: readonly ShownGate[];
  /** The first gate to ask, and how often that one has asked for a revision already. */
  readonly from: GateRetries;
  /** The lease of the member's turn that handed it in: that turn ends by itself. */
  readonly fence: number | null;
}

export interface GateRetries {
  readonly gate: number;
  readonly retries: number;
}

/** Work that a gate has given back: whose it was, and where judging goes on when they hand it in again. */
export interface ReturnedWork extends GateRetries {
  readonly member: string;
  /** How often the gate may ask. */
  readonly max_retries: number;
}

/** Gates of a member that must judge before the change that hands work in may stand. */
export interface TaskGates {
  readonly agent_revision: number;
  readonly gates: readonly ShownGate[];
}

/** What judging came to: all gates have let it pass, or one has not. */
export interface Judgement {
  readonly of: string;
  readonly failed?: {
    readonly step: 'retry' | 'block';
    readonly gate: number;
    readonly name: string;
    readonly retries: number;
    readonly max_retries: number;
    /** Scrubbed; for people. */
    readonly preview: string;
  };
}
