/**
 * Work that an agent gives another: a subagent's (SA-*), a delegation (DE-2), rounds of making and judging (DE-4). One run
 * of a workflow is one assignment, from its start to its result announced; the work itself is turns of a session of its own,
 * which run as its child.
 */
import type { RefusedSignals } from './refused-signals.ts';
import type { EvaluationRole, EvaluationStatus } from './evaluate-loop.ts';
import type { ShownCheck, ShownGate } from './gate.ts';
import type { CollectSubagentsInput } from './subagent.ts';
import type { EngineHints } from './turn.ts';

/** `[+]` part of docs/temporal-contract.md. */
export const ASSIGNMENT = {
  types: { subagent: 'subagent', delegation: 'delegation', evaluation: 'evaluateLoop' },
  updates: { steer: 'steer' },
  signals: { stop: 'stop', steer: 'steer' },
  queries: { state: 'state' },
} as const;

export type AssignmentKind = keyof typeof ASSIGNMENT.types;
/** Those that one session works on. */
export type WorkKind = Exclude<AssignmentKind, 'evaluation'>;

export const WORK_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'timeout'] as const;
export type WorkStatus = (typeof WORK_STATUSES)[number];
export type AssignmentStatus = WorkStatus | EvaluationStatus;
export type AssignmentEndStatus = Exclude<AssignmentStatus, 'queued' | 'running'>;

/** Whose turn waits for it (sync), or nobody's. */
export const ASSIGNMENT_MODES = ['async', 'sync'] as const;
export type AssignmentMode = (typeof ASSIGNMENT_MODES)[number];

/** Characters of a label. */
export const ASSIGNMENT_LABEL = 100;

/** The first words of the task, when no label is given. */
export function labelOfTask(task: string, max: number, otherwise: string): string {
  return Array.from(task.replace(/\s+/g, ' ').trim()).slice(0, max).join('') || otherwise;
}

/** A result as a message shows it; `whole` is the call that gives all of it. */
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

/** Results announced in one message at most; those of subagents that end so soon after each other go together (SA-4). */
export const ANNOUNCE = { debounceMs: 1_000, most: 20 } as const;

/** Results of delegations are announced when the last of a session's has ended (DE-2); a subagent's for itself. */
export function announcesTogether(kind: AssignmentKind): boolean {
  return kind === 'delegation';
}

export interface AssignmentInput {
  readonly tenant: string;
  readonly id: string;
  readonly session_key: string;
  readonly message_id: string;
  /** Agents: who gave it, and who works on it. */
  readonly source: string;
  readonly target: string;
  /** Scrubbed; shown in the web UI. */
  readonly label: string;
  readonly user?: string;
  readonly timeout_seconds: number;
  /** Of the target, as they were when the work was given; rows hold what their words may not say in history. */
  readonly gates: readonly ShownGate[];
  /** For the first turn of its session. */
  readonly engine?: EngineHints;
  /** It was ended from outside: this run only records that, and announces it. */
  readonly lost?: true;
}

/** What a run returns: for people and foreign clients; the whole result is a row. */
export interface AssignmentOutcome {
  readonly subagent_id?: string;
  readonly delegation_id?: string;
  readonly status: AssignmentEndStatus;
  /** For the turn that waits for it: the result of its call is recorded. */
  readonly ok: boolean;
  readonly recorded: true;
  /** It was steered: this one went on in its place. */
  readonly replaced_by?: string;
}

export interface AssignmentState extends Partial<RefusedSignals> {
  readonly subagent_id?: string;
  readonly delegation_id?: string;
  readonly status: AssignmentStatus;
  readonly label: string;
  /** Agents, of a delegation. */
  readonly source?: string;
  readonly target?: string;
  readonly session_key: string;
  /** Of the session's turns. */
  readonly workflow_id: string;
  readonly checks?: readonly ShownCheck[];
  readonly replaced_by?: string;
}

export interface StopAssignmentInput {
  readonly by?: string;
  readonly reason?: string;
  /** Its end is not announced to who gave the work, and knows. */
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
  /** The gate that blocked a delegation. */
  readonly blocked?: { readonly gate: number; readonly attempt: number };
  /** Who failed in rounds of making and judging. */
  readonly failed?: { readonly role: EvaluationRole; readonly round: number; readonly why: string };
  readonly lost?: true;
}

/** Of the first finish, however often it is repeated. */
export interface FinishedAssignment {
  readonly status: AssignmentEndStatus;
  readonly ok: boolean;
  /** Results to be announced now, this one among them. */
  readonly unannounced: number;
  /** Workflow that waits for its end. */
  readonly waiter?: string;
  readonly next?: { readonly input: AssignmentInput; readonly waits: boolean };
}

export interface AssignmentActivities {
  finish_assignment(input: FinishAssignmentInput): Promise<FinishedAssignment>;
  announce_assignment(input: AssignmentKey): Promise<void>;
  /** Number that still run; at 0 (or at the last) the result of the call is recorded. */
  collect_subagents(input: CollectSubagentsInput): Promise<number>;
}
