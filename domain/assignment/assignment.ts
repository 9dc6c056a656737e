/**
 * Work that one agent gives to another: a subagent's (SA-*), a delegation (DE-2), or rounds of making and judging
 * (DE-4). One workflow run is one assignment, from its start until its result is announced. The work itself is turns of
 * a separate session, which run as its child.
 */
import type { RefusedSignals } from '../approval/refused-signals.ts';
import type { ShownCheck, ShownGate } from '../gate/gate.ts';
import type { CollectSubagentsInput } from './subagent.ts';
import type { AssignmentKind } from '../ids.ts';
import type { EngineHints } from '../turn/turn.ts';

/** `[+]` part of docs/temporal-contract.md. */
export const ASSIGNMENT = {
  types: { subagent: 'subagent', delegation: 'delegation', evaluation: 'evaluateLoop' },
  updates: { steer: 'steer' },
  signals: { stop: 'stop', steer: 'steer' },
  queries: { state: 'state' },
} as const;

/** The kinds that use one session. */
export type WorkKind = Exclude<AssignmentKind, 'evaluation'>;

export const WORK_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'timeout'] as const;
export type WorkStatus = (typeof WORK_STATUSES)[number];
/** Rounds of making and judging end as approved or not. */
export type AssignmentStatus = WorkStatus | 'approved' | 'not_approved';
export type AssignmentEndStatus = Exclude<AssignmentStatus, 'queued' | 'running'>;

/** Greatest number of characters of a label. */
export const ASSIGNMENT_LABEL = 100;

/** The first words of the task, used when there is no label. */
export function labelOfTask(task: string, max: number, otherwise: string): string {
  return Array.from(task.replace(/\s+/g, ' ').trim()).slice(0, max).join('') || otherwise;
}

/** A result as a message shows it; `whole` is the call that returns the full text. */
export function cutResult(
  { result }: { readonly result: string | null },
  limit: number,
  whole: string,
): string {
  const text = result ?? '';
  if (text.trim() === '') return '(no result)';
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()}\n[cut; the whole result: ${whole}]`;
}

/**
 * `max` limits the results in one message. Results of subagents that end within `debounceMs` are announced together
 * (SA-4).
 */
export const ANNOUNCE = { debounceMs: 1_000, max: 20 } as const;

/**
 * Results of delegations are announced when the last of a session has ended (DE-2); a subagent's result is announced
 * alone.
 */
export function announcesTogether(kind: AssignmentKind): boolean {
  return kind === 'delegation';
}

export interface AssignmentInput {
  readonly tenant: string;
  readonly id: string;
  readonly session_key: string;
  readonly message_id: string;
  /** Keys of the agent that gives the work and of the agent that does it. */
  readonly source: string;
  readonly target: string;
  /** Scrubbed; the web UI shows it. */
  readonly label: string;
  readonly user?: string;
  readonly timeout_seconds: number;
  /** Gates of the target when the work was given. Rows keep their texts that history may not contain. */
  readonly gates: readonly ShownGate[];
  /** Hints for the first turn of its session. */
  readonly engine?: EngineHints;
  /** It is a task of a team's board, which it claims first. */
  readonly has_task?: true;
  /** The work was ended from outside: this run only records and announces that. */
  readonly lost?: true;
}

/** What a run returns, for people and other clients; the whole result is in a row. */
export interface AssignmentOutcome {
  readonly subagent_id?: string;
  readonly delegation_id?: string;
  readonly status: AssignmentEndStatus;
  /** For the turn that waits: whether its call succeeded, whose result is recorded. */
  readonly ok: boolean;
  readonly recorded: true;
  /** The work was steered: this assignment replaced it. */
  readonly replaced_by?: string;
}

export interface AssignmentState extends Partial<RefusedSignals> {
  readonly subagent_id?: string;
  readonly delegation_id?: string;
  readonly status: AssignmentStatus;
  readonly label: string;
  /** Keys of the agents of a delegation. */
  readonly source?: string;
  readonly target?: string;
  readonly session_key: string;
  /** Workflow id of the session's turns. */
  readonly workflow_id: string;
  readonly checks?: readonly ShownCheck[];
  readonly replaced_by?: string;
}

export interface StopAssignmentInput {
  readonly by?: string;
  readonly reason?: string;
  /** The end is not announced to the agent that gave the work, because it knows. */
  readonly silent?: boolean;
}

export interface AssignmentKey {
  readonly tenant: string;
  readonly id: string;
}

export interface FinishAssignmentInput extends AssignmentKey {
  readonly status: AssignmentEndStatus;
  readonly reason?: string;
  readonly by?: string;
  readonly silent?: boolean;
  /** The replacement of a subagent that was steered. */
  readonly next?: { readonly id: string; readonly message: string };
  /** The gate that blocked a delegation, if one did. */
  readonly blocked?: { readonly gate: number; readonly attempt: number };
  /** The agent that failed in rounds of making and judging. */
  readonly failed?: {
    readonly role: 'generator' | 'evaluator';
    readonly round: number;
    readonly why: string;
  };
  readonly lost?: true;
}

/** The data of the first finish, however often it is repeated. */
export interface FinishedAssignment {
  readonly status: AssignmentEndStatus;
  readonly ok: boolean;
  /** Number of results to announce now, this one included. */
  readonly unannounced: number;
  /** Id of the workflow that waits for the end. */
  readonly waiter?: string;
  readonly next?: { readonly input: AssignmentInput; readonly waits: boolean };
}

/** Each is safe to repeat. */
export interface LinkedTaskActivities {
  /** Gives the agent the task that its work is, which may have to be created. @throws what the board refuses */
  claim_linked_task(input: AssignmentKey): Promise<void>;
  /** Ends the task as the work has ended. @throws what the board refuses, when the task is no longer the work's */
  close_linked_task(input: AssignmentKey): Promise<void>;
}

export interface AssignmentActivities extends LinkedTaskActivities {
  finish_assignment(input: FinishAssignmentInput): Promise<FinishedAssignment>;
  announce_assignment(input: AssignmentKey): Promise<void>;
  /** Returns how many still run. When none does (or the last attempt is made), it records the result of the call. */
  collect_subagents(input: CollectSubagentsInput): Promise<number>;
}
