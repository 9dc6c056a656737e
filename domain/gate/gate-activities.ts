/**
 * The activities of a workflow whose work is judged (DE-6), and what happens when a command reaches a budget's limit.
 */
import type { GateRun, GateVerdict } from './gate.ts';
import type { PlannedCall } from '../turn/turn-activities.ts';

/** The command exceeds a budget: its workflow may ask for more on behalf of this session and turn. */
export interface GateAsk {
  readonly kind: 'budget';
  readonly call: PlannedCall;
  /** The reason in words. */
  readonly message: string;
  readonly session: string;
  readonly turn: string;
}

/** `increases`: how often more was requested, absent when the work cannot ask; `refused`: why there is no more. */
export type CheckGateInput = GateRun & { readonly increases?: number; readonly refused?: string };

/** Each is safe to repeat: the first verdict of a run stays. */
export interface GateActivities {
  /** Runs a command gate. */
  check_gate(input: CheckGateInput): Promise<GateVerdict | GateAsk>;
  /** Writes what an evaluating agent has to judge into a new session. */
  prepare_gate(input: GateRun): Promise<{ readonly session_key: string; readonly message_id: string }>;
  /** Reads the evaluating agent's answer; `problem` when there is none. */
  judge_gate(input: GateRun & { readonly problem?: string }): Promise<GateVerdict>;
  /** Writes the message that asks for a revision into the session of the work. */
  revise_work(input: GateRun): Promise<{ readonly message_id: string }>;
}
