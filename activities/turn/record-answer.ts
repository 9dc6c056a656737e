/** Records an answer with its calls in one commit, and says what the loop has to do; or says it again of one that was recorded. */
import { withUses } from '#domain/budget/meter.ts';
import { answerIdOf } from '#domain/ids.ts';
import type { ModelAnswer } from '#domain/model.ts';
import { storableText } from '#domain/storable-text.ts';
import type { CallModelResult } from '#domain/turn.ts';
import type { StepBasis } from '#store/step-basis.ts';
import type { Models } from '../model/model-catalog.ts';
import { type PlannedDeps, planRecorded } from '../tool-call/plan-calls.ts';
import { answerEvents, answerText } from './answer-events.ts';
import type { GeneratedAnswer } from './generate-answer.ts';
import { NO_MODEL } from './invoked-answer.ts';
import { type AnswerPlan, gatesOf } from './plan-answer.ts';
import type { LoadedStep, Step } from './step.ts';
import type { StepEngine } from './step-engine.ts';

export interface RecordDeps extends PlannedDeps {
  readonly models: Pick<Models, 'cost'>;
  readonly engine: Pick<StepEngine, 'recordAnswer' | 'afterAnswer' | 'scheduled'>;
}

/** What history keeps of an answer, for people who read it in the web UI. */
const PREVIEW = 500;

/** `refused` where another attempt of the step was first. */
export async function recordAnswer(
  deps: RecordDeps,
  step: Step,
  { answer, ref, spent, uses = [] }: GeneratedAnswer,
  plan: AnswerPlan,
): Promise<CallModelResult | 'refused'> {
  const words = ref === NO_MODEL ? answer.text : answerText(answer);
  const text = storableText(deps.scrubber.text(words));
  const isLast = plan.calls.length === 0;
  const isWithheld = plan.gates !== undefined;
  const usd = deps.models.cost(ref, answer.usage)?.usd;
  const all = [...uses, ...plan.uses];
  const id = answerIdOf(step.turn, step.step);
  const fate = await deps.engine.recordAnswer({
    step,
    plan,
    answer: {
      id,
      text,
      finish: answer.finish,
      model: ref,
      usage: answer.usage,
      usd,
      uses: all.length > 0 ? all : undefined,
      readUpTo: step.readUpTo,
      budget: step.budget?.held
        ? { attempt: step.attempt.number, spent: withUses(spent, plan.uses) }
        : undefined,
      withheld: isWithheld ? (true as const) : undefined,
      ends: isLast && !isWithheld ? step.ends : undefined,
    },
    events: answerEvents(plan, id, isWithheld ? '' : text, step.step),
  });
  if (fate === 'refused') return fate;
  const cost = spentText(step, answer, usd);
  const result: CallModelResult = isLast
    ? {
        kind: 'answer',
        preview: deps.scrubber.preview(text, PREVIEW),
        spent: cost,
        gates: plan.gates,
        ended: fate === 'ended' ? (true as const) : undefined,
      }
    : { kind: 'calls', calls: plan.planned, spent: cost };
  return deps.engine.afterAnswer(result, step.agent, ref, spent.seconds);
}

/** The step was recorded by an earlier attempt: its answer, as that attempt would have returned it. */
export function recordedAnswer(
  deps: RecordDeps,
  step: LoadedStep,
  { text, model, calls, unheard, ended }: NonNullable<StepBasis['recorded']>,
): CallModelResult {
  if (calls.length > 0) return { kind: 'calls', calls: planRecorded(deps, step, calls) };
  return {
    kind: 'answer',
    preview: deps.scrubber.preview(text, PREVIEW),
    gates: gatesOf(step, model, deps.scrubber),
    unheard: unheard ? (true as const) : undefined,
    ended: ended ? (true as const) : undefined,
  };
}

function spentText({ spent }: Step, { usage }: ModelAnswer, usd: number | undefined): string {
  const tokens = spent.input + spent.output + usage.inputTokens + usage.outputTokens;
  const money = (spent.usd ?? 0) + (usd ?? 0);
  return money > 0 ? `${tokens} tokens, $${money.toFixed(4)}` : `${tokens} tokens`;
}
