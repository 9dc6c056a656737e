/**
 * The contract of the `delegation` workflow (DE-2): one run is one piece of work that an agent gave to another, from its
 * start over its gates to its result told. The target works in a session of its own, with its own identity and tools.
 */
import type { ShownCheck, ShownGate } from './gate.ts';

export const DELEGATION = {
  type: 'delegation',
  signals: { stop: 'stop' },
  queries: { state: 'state' },
} as const;

export const DELEGATION_STATUSES = [
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timeout',
] as const;
export type DelegationStatus = (typeof DELEGATION_STATUSES)[number];
export type DelegationEndStatus = Exclude<DelegationStatus, 'queued' | 'running'>;

export const DELEGATION_MODES = ['async', 'sync'] as const;
export type DelegationMode = (typeof DELEGATION_MODES)[number];

export const DELEGATION_LIMITS = {
  /** Delegations that an agent works on at once, when it does not say (DE-1). */
  load: 5,
  /** A chain of agents that delegate to each other ends. */
  depth: 5,
  syncSeconds: 300,
  mostSyncSeconds: 600,
  asyncSeconds: 600,
  mostAsyncSeconds: 86_400,
  task: 100_000,
  context: 100_000,
  /** Characters of each earlier result that goes with a task. */
  dependency: 8_000,
  dependencies: 20,
  files: 20,
  /** Of all files that go with a task together. */
  filesBytes: 10 * 1024 * 1024,
  /** Targets that stand in the prompt; more are searched for (DE-3). */
  inlineTargets: 15,
  /** Results told in one message. */
  told: 20,
} as const;

export interface DelegationInput {
  readonly tenant: string;
  readonly delegation_id: string;
  readonly session_key: string;
  readonly message_id: string;
  readonly parent_session: string;
  readonly source: string;
  readonly target: string;
  /** Scrubbed; shown in the web UI. */
  readonly label: string;
  readonly user?: string;
  readonly timeout_seconds: number;
  /** Of the target, as they were when the work was given; rows hold what their words may not say in history. */
  readonly gates: readonly ShownGate[];
  /** It was ended from outside: this run only records that, and tells who waits. */
  readonly lost?: true;
}

/** What a turn knows of the work that it is of; bound to the session, so that no message changes it. */
export interface DelegationContext {
  /** Of the delegation, the gate's run or the evaluation. */
  readonly id: string;
  readonly label: string;
  /** The agent that gave it. */
  readonly from: string;
  /** 1 is the work of an agent that nobody delegated to. */
  readonly depth: number;
  /** Where it was given; no turn of ours may have done what a gate judges. */
  readonly session: string;
  readonly turn: string | null;
  /** No gates run on it or on what it starts, since it is a judgement itself (DE-6). */
  readonly ungated?: true;
}

/** What a run returns: for people and foreign clients; the whole result is a row. */
export interface DelegationOutcome {
  readonly delegation_id: string;
  readonly status: DelegationEndStatus;
  readonly ok: boolean;
  readonly recorded: true;
}

export interface StopDelegationInput {
  readonly by?: string;
  readonly reason?: string;
  /** Its end is not told to the one who gave the work. */
  readonly silent?: boolean;
}

export interface DelegationState {
  readonly delegation_id: string;
  readonly status: DelegationStatus;
  readonly label: string;
  readonly source: string;
  readonly target: string;
  readonly session_key: string;
  /** Of the session's turns. */
  readonly workflow_id: string;
  readonly checks: readonly ShownCheck[];
}

export interface FinishDelegationInput {
  readonly tenant: string;
  readonly delegation_id: string;
  readonly status: DelegationEndStatus;
  readonly reason?: string;
  readonly by?: string;
  readonly silent?: boolean;
  /** The gate that blocked it. */
  readonly blocked?: { readonly gate: number; readonly attempt: number };
  readonly lost?: true;
}

/** Of the first finish, however often it is repeated. */
export interface FinishedDelegation {
  /** It goes on: work that it gave away itself runs, or its session has yet to hear of it. Nothing is recorded. */
  readonly pending?: true;
  readonly status: DelegationEndStatus;
  readonly ok: boolean;
  /** Results to be announced now: none before the last sibling has ended. */
  readonly untold: number;
}

export interface DelegationActivities {
  /** False when it must not begin: it was stopped before, or its row is gone. */
  begin_delegation(input: { readonly tenant: string; readonly delegation_id: string }): Promise<boolean>;
  /** Whether what a session gave away itself still runs, or has yet to be answered there. */
  has_pending_work(input: { readonly tenant: string; readonly session_key: string }): Promise<boolean>;
  finish_delegation(input: FinishDelegationInput): Promise<FinishedDelegation>;
  announce_delegations(input: { readonly tenant: string; readonly delegation_id: string }): Promise<void>;
}

/** `timeout` as the caller asked for it, in the bounds of the mode. */
export function secondsOf(mode: DelegationMode, asked: number | undefined): number {
  const { syncSeconds, mostSyncSeconds, asyncSeconds, mostAsyncSeconds } = DELEGATION_LIMITS;
  const [standard, most] =
    mode === 'sync' ? [syncSeconds, mostSyncSeconds] : [asyncSeconds, mostAsyncSeconds];
  if (asked === undefined || !Number.isFinite(asked) || asked < 1) return standard;
  return Math.min(Math.trunc(asked), most);
}

/** 5 unless the agent says a number of 1 or more. */
export function loadOf(asked: unknown): number {
  return typeof asked === 'number' && Number.isInteger(asked) && asked >= 1 ? asked : DELEGATION_LIMITS.load;
}
