/** The way to any workflow of ours that runs, made of the one maker of handles (api/client.ts). Throws Failures. */
export interface WorkflowReach {
  /** False when no such workflow runs. */
  signal(workflowId: string, name: string, input: unknown): Promise<boolean>;
  /** Undefined when no such workflow runs. `key` is the update's id: safe to repeat. */
  update<Result>(workflowId: string, name: string, input: unknown, key: string): Promise<Result | undefined>;
  isRunning(workflowId: string): Promise<boolean>;
}
