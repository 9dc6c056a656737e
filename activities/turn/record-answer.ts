/** Records an answer with its calls in one commit, and returns what the loop must do. */
import { withUses } from '#domain/budget/meter.ts';
import { answerIdOf } from '#domain/ids.ts';
import type { ModelAnswer } from '#domain/model/model.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { CallModelResult } from '#domain/turn/turn-activities.ts';
import type { Models } from '../model/model-catalog.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { answerEvents, answerText } from './answer-events.ts';
import type { GeneratedAnswer } from './generate-answer.ts';
import { NO_MODEL } from '#domain/model/model.ts';
import { ANSWER_PREVIEW, type AnswerPlan } from './plan-answer.ts';
import type { Step } from './step.ts';
import type { StepEngine } from './step-engine.ts';

export interface RecordDeps {
  readonly scrubber: Scrubber;
  readonly models: Pick<Models, 'cost'>;
  readonly engine: Pick<StepEngine, 'recordAnswer' | 'afterAnswer'>;
}

/** `refused` when another attempt of the step was first. */
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
  const usd = priceOf(deps, ref, answer);
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
      ...(ref !== NO_MODEL && { attempt: step.attempt.number }),
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
        preview: deps.scrubber.preview(text, ANSWER_PREVIEW),
        spent: cost,
        gates: plan.gates,
        ended: fate === 'ended' ? (true as const) : undefined,
      }
    : { kind: 'calls', calls: plan.planned, spent: cost };
  return deps.engine.afterAnswer(result, step.agent, ref, spent.seconds);
}

/** Undefined where the price is not known; what no model was asked costs nothing. */
function priceOf({ models }: RecordDeps, ref: string, { usage }: ModelAnswer): number | undefined {
  return ref === NO_MODEL ? 0 : models.cost(ref, usage)?.usd;
}

function spentText({ spent }: Step, { usage }: ModelAnswer, usd: number | undefined): string {
  const tokens = spent.input + spent.output + usage.inputTokens + usage.outputTokens;
  const money = (spent.usd ?? 0) + (usd ?? 0);
  return money > 0 ? `${tokens} tokens, $${money.toFixed(4)}` : `${tokens} tokens`;
}
