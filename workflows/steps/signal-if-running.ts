/** A signal to a workflow that may have ended: then there is nobody to notify. */
import { getExternalWorkflowHandle, log } from '@temporalio/workflow';

export async function signalIfRunning(workflowId: string, name: string, input: unknown): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(name, input);
  } catch (error) {
    // The SDK has no own type for "there is no such running workflow", which is this error.
    log.info('signal found nobody', {
      workflowId,
      name,
      problem: error instanceof Error ? error.message : '',
    });
  }
}
