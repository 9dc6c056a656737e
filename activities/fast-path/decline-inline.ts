/** A worker without the fast path, which runs may ask for it all the same: who started them did not know. */
import type { InlineModelInput, InlineModelResult } from '#domain/fast-path.ts';
import { attemptNow } from '../attempt.ts';
import type { StepEngine } from '../turn/step-engine.ts';
import { Context } from '@temporalio/activity';

/** A model is not asked within a workflow task, which is not held up here; it is asked by the activity that comes next. */
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
