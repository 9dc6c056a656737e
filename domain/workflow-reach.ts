/** A workflow that a message may start. */
export interface WorkflowStart {
  readonly type: string;
  readonly id: string;
  readonly input: unknown;
  /** For people, in the web UI. */
  readonly summary: string;
  readonly tenant: string;
  readonly team: string;
}

/** The way to any workflow of ours that runs, made of the one maker of handles (api/client.ts). Throws Failures. */
export interface WorkflowReach {
  /** False when no such workflow runs. */
  signal(workflowId: string, name: string, input: unknown): Promise<boolean>;
  /** Undefined when no such workflow runs. `key` is the update's id: safe to repeat. */
  update<Result>(workflowId: string, name: string, input: unknown, key: string): Promise<Result | undefined>;
  isRunning(workflowId: string): Promise<boolean>;
  /** Starts it, or finds it running, and asks it: one request. `key` is the update's id: safe to repeat. */
  updateWithStart<Result>(start: WorkflowStart, name: string, input: unknown, key: string): Promise<Result>;
  /** The same with a signal, which needs no worker to be taken. */
  signalWithStart(start: WorkflowStart, name: string, input: unknown): Promise<void>;
}
