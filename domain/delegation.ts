/** Delegations (DE-1, DE-2): their limits, and what a turn knows of the work that it is of. */
import type { AssignmentMode } from './assignment.ts';

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
} as const;

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

/** `timeout` as the caller asked for it, in the bounds of the mode. */
export function secondsOf(mode: AssignmentMode, requested: number | undefined): number {
  const { syncSeconds, mostSyncSeconds, asyncSeconds, mostAsyncSeconds } = DELEGATION_LIMITS;
  const [standard, max] = mode === 'sync' ? [syncSeconds, mostSyncSeconds] : [asyncSeconds, mostAsyncSeconds];
  if (requested === undefined || !Number.isFinite(requested) || requested < 1) return standard;
  return Math.min(Math.trunc(requested), max);
}

/** 5 unless the agent says a number of 1 or more. */
export function loadOf(request: unknown): number {
  return typeof request === 'number' && Number.isInteger(request) && request >= 1
    ? request
    : DELEGATION_LIMITS.load;
}
