/**
 * One model call in five phases: load the basis of the step, admit it, generate the answer, plan its calls, and record
 * everything. A repeat after the record returns the recorded answer and costs nothing.
 */
import type { CallModelInput, CallModelResult } from '#domain/turn/turn-activities.ts';
import type { CallRules } from '#policy/call-rules.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { Attempt } from '../attempt.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import type { Guards } from '../guards.ts';
import type { Models } from '../model/model-catalog.ts';
import type { StartGate } from '../start-gate.ts';
import type { TranscriptCache } from '../prompt/transcript-cache.ts';
import { untilRecorded } from '../tool-call/until-recorded.ts';
import { type AdmitDeps, admitStep } from './admit-step.ts';
import { type GenerateDeps, type GeneratedAnswer, generateAnswer } from './generate-answer.ts';
import { type LoadDeps, loadStep } from './load-step.ts';
import { type PlanAnswerDeps, planAnswer, recordedAnswer } from './plan-answer.ts';
import { type RecordDeps, recordAnswer } from './record-answer.ts';
import type { ModelActivity, StepEngine } from './step-engine.ts';

export interface CallModelDeps extends LoadDeps, AdmitDeps, GenerateDeps, PlanAnswerDeps, RecordDeps {
  readonly ledger: TurnLedger;
  readonly engine: StepEngine;
  readonly budgets: BudgetGuard;
  readonly transcripts: TranscriptCache;
  readonly guards: Guards;
  readonly models: Models;
  readonly rules: CallRules;
  readonly startGate: StartGate;
}

export function createCallModel(parts: ForAnyTenant<CallModelDeps>): ModelActivity {
  const run = parts.engine.modelActivity(async (input, attempt) =>
    callModel(await forTenant<CallModelDeps>(parts, input.tenant), input, attempt),
  );
  return failingAs(activityFailure, run);
}

/** An answer that is paid for and not recorded yet, with the position up to which the model had read. */
interface PaidAnswer {
  readonly readUpTo: number;
  readonly answer: GeneratedAnswer;
}

/** While Postgres does not take an answer, only this process has it. A process that ends, or a stop, gives it up. */
function callModel(deps: CallModelDeps, input: CallModelInput, attempt: Attempt): Promise<CallModelResult> {
  const paid: { last?: PaidAnswer } = {};
  return untilRecorded(
    () => untilNotRefused(deps, input, attempt, paid),
    () => paid.last !== undefined && !attempt.signal.aborted,
  );
}

async function untilNotRefused(
  deps: CallModelDeps,
  input: CallModelInput,
  attempt: Attempt,
  paid: { last?: PaidAnswer },
): Promise<CallModelResult> {
  const { tenant, turn } = input;
  const work = { tenant, of: { turn } };
  for (;;) {
    await deps.startGate.pass(work, attempt);
    const loaded = await loadStep(deps, input, attempt);
    if ('kind' in loaded) return loaded;
    if (loaded.recorded) return recordedAnswer(deps, loaded, loaded.recorded);
    // The first step makes the turn's row, by which the gate knows the turn.
    if (!(await deps.startGate.isOpen(work))) {
      await deps.budgets.releaseUnasked(loaded, []);
      continue;
    }
    const step = await admitStep(deps, loaded);
    if ('kind' in step) return step;
    const { readUpTo } = step;
    const answer = paid.last?.readUpTo === readUpTo ? paid.last.answer : await generateAnswer(deps, step);
    paid.last = { readUpTo, answer };
    const plan = await planAnswer(deps, step, answer);
    const result = await recordAnswer(deps, step, answer, plan);
    // Another attempt of this step was first: its answer counts, or the messages that it has taken must be read.
    if (result !== 'refused') return result;
    delete paid.last;
  }
}
