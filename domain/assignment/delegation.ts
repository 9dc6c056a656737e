/** Delegations (DE-1, DE-2): their limits, and what a turn knows about the delegated work it belongs to. */
import { wholeSeconds } from './whole-seconds.ts';

/** `sync` when the turn that gives the work waits for it; `async` when no turn waits. */
export const ASSIGNMENT_MODES = ['async', 'sync'] as const;
export type AssignmentMode = (typeof ASSIGNMENT_MODES)[number];

export const DELEGATION_LIMITS = {
  /** How many delegations an agent works on at once, when its row does not say (DE-1). */
  load: 5,
  /** Greatest depth of a chain of agents that delegate to each other. */
  depth: 5,
  syncSeconds: 300,
  maxSyncSeconds: 600,
  asyncSeconds: 600,
  maxAsyncSeconds: 86_400,
  task: 100_000,
  context: 100_000,
  /** Characters of each earlier result that is passed with a task. */
  dependency: 8_000,
  dependencies: 20,
  files: 20,
  /** Greatest total size of the files that are passed with a task. */
  filesBytes: 10 * 1024 * 1024,
  /** Number of targets that the prompt lists; the others are found by search (DE-3). */
  inlineTargets: 15,
} as const;

/** What a turn knows about the delegated work it belongs to. It is bound to the session, so no message changes it. */
export interface DelegationContext {
  /** Id of the delegation, of the gate's run or of the evaluation. */
  readonly id: string;
  readonly label: string;
  /** The agent that gave the work. */
  readonly from: string;
  /** 1 for the work of an agent that was not itself delegated to. */
  readonly depth: number;
  /** The session in which the work was given. A gate must not judge what our own turns did there. */
  readonly session: string;
  readonly turn: string | null;
  /** No gates run on the work or on what it starts, because it is itself a judgement (DE-6). */
  readonly ungated?: true;
}

/** The `timeout` that the caller requested, within the bounds of the mode. */
export function secondsOf(mode: AssignmentMode, requested: number | undefined): number {
  const { syncSeconds, maxSyncSeconds, asyncSeconds, maxAsyncSeconds } = DELEGATION_LIMITS;
  const [standard, max] = mode === 'sync' ? [syncSeconds, maxSyncSeconds] : [asyncSeconds, maxAsyncSeconds];
  return wholeSeconds(requested, max) ?? standard;
}

/** Returns 5 unless the agent sets a number of 1 or more. */
export function loadOf(request: unknown): number {
  return typeof request === 'number' && Number.isInteger(request) && request >= 1
    ? request
    : DELEGATION_LIMITS.load;
}
