/** The model calls of one turn, one after another. */
import { uuid4 } from '@temporalio/workflow';
import type { CallModelInput } from '#domain/turn/turn-activities.ts';
import { createInlineSteps } from '../inline-steps.ts';

export async function chain(input: CallModelInput, steps: number): Promise<string> {
  const { askModel } = createInlineSteps({ inline_model: true });
  for (let step = 1; step <= steps; step += 1) await askModel({ ...input, step });
  return uuid4();
}
