/**
 * Admits a step to its model: it runs hooks on its prompts and checks the turn's limits and budget, or returns what
 * ends the turn.
 */
import { DEFAULT_ITERATIONS, MAX_ITERATIONS } from '#domain/agent.ts';
import type { CallModelResult } from '#domain/turn/turn-activities.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import { END_AT, identicalAnswers } from '../prompt/loop-guard.ts';
import { quoteOthers } from '../prompt/other-speakers.ts';
import type { TranscriptCache } from '../prompt/transcript-cache.ts';
import { invokedCalls } from './invoked-answer.ts';
import { type PromptHookDeps, runPromptHooks } from './run-prompt-hooks.ts';
import type { LoadedStep, Step } from './step.ts';

export interface AdmitDeps extends PromptHookDeps {
  readonly transcripts: Pick<TranscriptCache, 'extend'>;
  readonly budgets: Pick<BudgetGuard, 'releaseUnasked' | 'atLimit' | 'takeBackAsk'>;
}

export async function admitStep(deps: AdmitDeps, loaded: LoadedStep): Promise<Step | CallModelResult> {
  const { transcript: rows, denied, uses } = await runPromptHooks(deps, loaded);
  if (denied) {
    // This comes before the transcript is known: a repeat must find what was denied.
    await deps.budgets.releaseUnasked(loaded, uses);
    return denied;
  }
  const { tenant, session, knownUpTo, budget } = loaded;
  const known = deps.transcripts.extend(tenant, session, knownUpTo, { ...loaded, transcript: rows });
  const transcript = quoteOthers(loaded.user, known);
  const readUpTo = transcript.rows.at(-1)?.position ?? transcript.summaryPosition;
  const step: Step = { ...loaded, transcript, readUpTo, hookUses: uses };
  const limit = limitReached(step);
  if (limit) {
    await deps.budgets.releaseUnasked(step, uses);
    return limit;
  }
  // Its message lists the tools, so no model is called.
  if (invokedCalls(step)) return step;
  if (budget && !budget.held) return deps.budgets.atLimit(step, budget.exceeded);
  await deps.budgets.takeBackAsk(step);
  return step;
}

/** Checks the limits of EX-7. */
function limitReached({ agent, step, turn, transcript }: Step): CallModelResult | undefined {
  const iterations = Math.min(agent.limits?.iterations ?? DEFAULT_ITERATIONS, MAX_ITERATIONS);
  if (step > iterations) {
    const message = `the turn has made its ${iterations} model calls (limits.iterations); send a message to go on`;
    return { kind: 'limit', code: 'IterationLimit', message };
  }
  const repeats = identicalAnswers(transcript.rows, turn);
  if (repeats < END_AT) return undefined;
  return {
    kind: 'limit',
    code: 'LoopDetected',
    message: `the model asked for the identical call ${repeats} times in a row`,
  };
}
