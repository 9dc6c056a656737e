/** What the workflow of judged work asks of the world (DE-6), and what comes of a budget that a command meets. */
import type { GateRun, GateVerdict } from './gate.ts';
import type { PlannedCall } from './turn.ts';

/** The command has no room in a budget: more may be asked for, in the name of this session and turn. */
export interface GateAsk {
  readonly kind: 'budget';
  readonly call: PlannedCall;
  /** Why, in words. */
  readonly message: string;
  readonly session: string;
  readonly turn: string;
}

/** `asked`: how often more was asked for, not said by who cannot ask; `refused`: why there is no more. */
export type CheckGateInput = GateRun & { readonly increases?: number; readonly refused?: string };

/** Safe to repeat: the first verdict of a run stays. */
export interface GateActivities {
  /** Runs a command gate. */
  check_gate(input: CheckGateInput): Promise<GateVerdict | GateAsk>;
  /** Writes what an evaluating agent is to judge into a session of its own. */
  prepare_gate(input: GateRun): Promise<{ readonly session_key: string; readonly message_id: string }>;
  /** Reads what it answered; `problem` when it did not. */
  judge_gate(input: GateRun & { readonly problem?: string }): Promise<GateVerdict>;
  /** Writes the message that asks for a revision into the session of the work. */
  revise_work(input: GateRun): Promise<{ readonly message_id: string }>;
}
