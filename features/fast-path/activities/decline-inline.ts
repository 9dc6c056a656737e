/** A worker without the fast path. Runs may still request inline steps, because their starter did not know this. */
import type { InlineModelInput, InlineModelResult } from '../contract.ts';
import { attemptNow } from '#activities/attempt.ts';
import type { StepEngine } from '#activities/turn/step-engine.ts';
import { Context } from '@temporalio/activity';

/** No model is called within a workflow task, so none is delayed; the next activity calls it. */
export function declineInline(engine: StepEngine): StepEngine {
  return {
    ...engine,
    modelActivity:
      (work) =>
      async (input: InlineModelInput): Promise<InlineModelResult> => {
        if (Context.current().info.isLocal) return { kind: 'continues' };
        const attempt = attemptNow();
        return work(input, { ...attempt, number: attempt.number + (input.priorAttempts ?? 0) });
      },
  };
}
