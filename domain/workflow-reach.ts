import type { WorkflowState } from './turn/lost-work.ts';

/** A workflow that is started from outside a workflow. */
export interface WorkflowStart {
  readonly type: string;
  readonly id: string;
  readonly input: unknown;
  /** For people in the web UI. */
  readonly summary: string;
  readonly tenant: string;
  /** Another attribute by which people find it in the web UI. */
  readonly team?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly user?: string | undefined;
}

/**
 * Access to any running workflow of ours, created by the only factory of handles (temporal/client.ts). @throws Failure
 */
export interface WorkflowReach {
  /** False when no such workflow runs. */
  signal(workflowId: string, name: string, input: unknown): Promise<boolean>;
  /** Undefined when no such workflow runs. `key` is the update's id: safe to repeat. */
  update<Result>(workflowId: string, name: string, input: unknown, key: string): Promise<Result | undefined>;
  /** Requests its cancellation. False when no such workflow runs. */
  cancel(workflowId: string): Promise<boolean>;
  /** State of its newest run. Waits `withinMs` for Temporal, by default 10 s. */
  stateOf(workflowId: string, withinMs?: number): Promise<WorkflowState>;
  /** Starts it, unless it runs. */
  start(start: WorkflowStart): Promise<void>;
  /**
   * Starts it or finds it running, and sends it the update: one request. `key` is the update's id: safe to repeat.
   * Waits as long as `stateOf`.
   */
  updateWithStart<Result>(
    start: WorkflowStart,
    name: string,
    input: unknown,
    key: string,
    withinMs?: number,
  ): Promise<Result>;
  /** The same with a signal, which needs no worker to be accepted. */
  signalWithStart(start: WorkflowStart, name: string, input: unknown): Promise<void>;
}
