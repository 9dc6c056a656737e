/** Work that was submitted for a task and that gates have not yet passed (DE-6). It is part of a task's state. */
import type { ShownGate } from '../gate/gate.ts';

/** Submitted work stays hidden until it has passed. */
export interface TaskJudging {
  /** Id under which the checks are recorded; each submission has a new one. */
  readonly of: string;
  /** What happens when it passes: it completes, or the lead reviews it. */
  readonly action: 'complete' | 'review';
  /** Who submitted it, for the audit log. */
  readonly actor: string;
  /** Row of the submitted text; null means the task's present result. */
  readonly text_id: string | null;
  /** The member whose gates judge. */
  readonly member: string;
  /** Revision of that agent when its gates were read. */
  readonly agent_revision: number;
  readonly gates: readonly ShownGate[];
  /** The first gate to run, and how many revisions it has already requested. */
  readonly from: GateRetries;
  /** Fence of the lease of the member's turn that submitted it: that turn ends by itself. */
  readonly fence: number | null;
}

export interface GateRetries {
  readonly gate: number;
  readonly retries: number;
}

/** Work that a gate has returned: whose it was, and where judging continues when it is submitted again. */
export interface ReturnedWork extends GateRetries {
  readonly member: string;
  /** How many revisions the gate may request. */
  readonly max_retries: number;
}

/** Gates of a member that must judge before a change that submits work is recorded. */
export interface TaskGates {
  readonly agent_revision: number;
  readonly gates: readonly ShownGate[];
}

/** The result of judging: all gates have passed the work, or one has not. */
export interface Judgement {
  readonly of: string;
  readonly failed?: {
    readonly step: 'retry' | 'block';
    readonly gate: number;
    readonly name: string;
    readonly retries: number;
    readonly max_retries: number;
    /** Scrubbed text for people. */
    readonly preview: string;
  };
}
