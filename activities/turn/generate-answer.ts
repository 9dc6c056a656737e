/**
 * Generates the answer of a step: by its model, with a prompt that is shortened when necessary, or by the calls in its
 * message.
 */
import { randomUUID } from 'node:crypto';
import type { Spent } from '#domain/budget/budget.ts';
import { createMeter, type Meter, NOTHING_SPENT, withUses } from '#domain/budget/meter.ts';
import type { WorkerPart } from '#domain/feature.ts';
import { turnGates } from '#domain/gate/gate.ts';
import { answerIdOf } from '#domain/ids.ts';
import { type ModelAnswer, ModelError, NO_MODEL } from '#domain/model/model.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { Sealer } from '#store/seal.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import { generateWithFallback } from '../model/fallback.ts';
import { type Models, useOf } from '../model/model-catalog.ts';
import { buildPrompt } from '../prompt/build-prompt.ts';
import { isNearlyFull, planCompaction, tokensOf } from '../prompt/compact.ts';
import { newestImages, readImages, type ShownImages } from '../prompt/prompt-images.ts';
import { type PromptParts, type PromptPartsDeps, promptParts } from '../prompt/prompt-parts.ts';
import type { Transcript } from '../prompt/transcript-cache.ts';
import { untilRecorded } from '../tool-call/until-recorded.ts';
import { createDeltaFeed } from './delta-feed.ts';
import { type InvokedAnswer, invokedAnswer, invokedCalls } from './invoked-answer.ts';
import { hasStandIns } from '#domain/turn/stand-ins.ts';
import type { StandIns } from '../stand-ins.ts';
import { withTrace } from '../trace-scope.ts';
import type { Step } from './step.ts';
import type { StepEngine } from './step-engine.ts';

export interface GenerateDeps extends PromptPartsDeps {
  readonly ledger: Pick<TurnLedger, 'appendEvents' | 'readFiles' | 'recordSummary'>;
  readonly models: Models;
  readonly budgets: Pick<BudgetGuard, 'releaseFailed'>;
  readonly engine: Pick<StepEngine, 'beforeModelCall'>;
  readonly sealer: Sealer;
  readonly standIns: StandIns;
  readonly forkAnswer: ForkAnswer;
  /** Callbacks of features. */
  readonly summarized: readonly NonNullable<WorkerPart['summarized']>[];
}

export interface GeneratedAnswer extends InvokedAnswer {
  readonly spent: Spent;
  /** Other model uses of the step so far. */
  readonly uses?: readonly ModelUse[] | undefined;
}

/** The answer that a fork was given in place of a model's; undefined when there is none. Safe to repeat. */
export type ForkAnswer = (step: Step) => Promise<ModelAnswer | undefined>;

/** One attempt's run of a step's models: `meter` counts its use, `failed` contains the use of failed calls. */
interface ModelRun {
  readonly step: Step;
  readonly refs: readonly string[];
  readonly meter: Meter;
  readonly failed: readonly ModelUse[];
  readonly onFailed: (use: ModelUse) => void;
}

export async function generateAnswer(deps: GenerateDeps, step: Step): Promise<GeneratedAnswer> {
  const calls = invokedCalls(step);
  if (calls) return { ...invokedAnswer(deps.sealer, step, calls), spent: NOTHING_SPENT };
  const answer = step.context.fork?.answer_step === step.step ? await deps.forkAnswer(step) : undefined;
  if (answer) return { answer, ref: NO_MODEL, spent: NOTHING_SPENT };
  const { agent, attempt, hookUses } = step;
  deps.engine.beforeModelCall(attempt, agent);
  const run = createModelRun(step);
  const startedAt = performance.now();
  const spent = (): Spent => run.meter.spent((performance.now() - startedAt) / 1000);
  try {
    const answer = await withTrace(step.tenant, step.context, answerIdOf(step.turn, step.step), () =>
      askModels(deps, run),
    );
    return { ...answer, spent: withUses(spent(), hookUses), uses: [...run.failed, ...hookUses] };
  } catch (error) {
    const { refs, failed } = run;
    await deps.budgets.releaseFailed(step, { error, models: refs.length, spent: spent(), uses: failed });
    throw error;
  }
}

function createModelRun(step: Step): ModelRun {
  const meter = createMeter();
  const failed: ModelUse[] = [];
  const onFailed = (use: ModelUse): void => {
    failed.push(use);
    meter.add(use.usage, use.usd);
  };
  return { step, refs: [step.agent.model].flat(), meter, failed, onFailed };
}

async function askModels(deps: GenerateDeps, run: ModelRun): Promise<InvokedAnswer> {
  const { step, refs } = run;
  const window = Math.min(...refs.map((ref) => deps.models.contextWindow(ref)));
  const isFull = isNearlyFull(step.transcript, window, shownImages(deps, run, step.transcript));
  const transcript = isFull ? await compact(deps, run, step.transcript, window) : step.transcript;
  const parts = await promptParts(deps, step, transcript, window);
  try {
    return await generate(deps, run, transcript, parts);
  } catch (error) {
    if (!(error instanceof ModelError && error.code === 'ContextOverflow')) throw error;
    // The real window is smaller than assumed, so the refused size is the better estimate.
    const measured = Math.min(window, tokensOf(transcript)) / 2;
    const smaller = await compact(deps, run, transcript, measured);
    if (smaller === transcript) throw error;
    return generate(deps, run, smaller, parts);
  }
}

/** Asks the models, or the session's stand-ins. */
async function ask(
  deps: GenerateDeps,
  { step, refs }: ModelRun,
  request: Parameters<typeof generateWithFallback>[2],
  kind: 'answer' | 'summary',
  options: Parameters<typeof generateWithFallback>[3],
): Promise<InvokedAnswer> {
  const answer = hasStandIns(step.context) ? await deps.standIns.answer(step, request, kind) : undefined;
  const [ref = ''] = refs;
  return answer ? { answer, ref } : generateWithFallback(deps.models, refs, request, options);
}

/** None when no model of the run sees. */
function shownImages({ models }: GenerateDeps, { refs }: ModelRun, transcript: Transcript): ShownImages {
  return refs.some((ref) => models.seesImages(ref)) ? newestImages(transcript) : new Map();
}

/** Returns the same transcript when nothing can be left out of it. */
async function compact(
  deps: GenerateDeps,
  run: ModelRun,
  transcript: Transcript,
  window: number,
): Promise<Transcript> {
  const { step, meter } = run;
  const plan = planCompaction(transcript, window);
  if (!plan) return transcript;
  const request = {
    system: 'You write summaries.',
    messages: plan.messages,
    tools: [],
    idempotencyKey: `${answerIdOf(step.turn, step.step)}.summary.${plan.position}`,
    signal: step.attempt.signal,
    onDelta: () => undefined,
  };
  const { answer, ref } = await ask(deps, run, request, 'summary', run);
  const use = useOf(deps.models, 'summary', ref, answer.usage);
  meter.add(use.usage, use.usd);
  const summary = storableText(deps.scrubber.text(answer.text));
  // This comes before the record, because afterwards nobody makes this summary again.
  if (step.agent.memory?.at_compaction && !step.context.subagent && !hasStandIns(step.context)) {
    const session = { ...step, agent: step.agent.key, readOutside: deps.rules.outside(step.used) };
    for (const summarized of deps.summarized) await summarized(session, summary);
  }
  const paid = { ...use, once: randomUUID() };
  await untilRecorded(
    () => deps.ledger.recordSummary(step, summary, plan.position, paid),
    () => !step.attempt.signal.aborted,
  );
  return {
    summary,
    summaryPosition: plan.position,
    rows: transcript.rows.filter((row) => row.position > plan.position),
  };
}

async function generate(
  deps: GenerateDeps,
  run: ModelRun,
  transcript: Transcript,
  { tools, guides }: PromptParts,
): Promise<InvokedAnswer> {
  const { step, meter } = run;
  const { agent, attempt } = step;
  const prompt = buildPrompt(agent, transcript, step.turn, guides);
  const images = await readImages(deps.ledger, step.tenant, shownImages(deps, run, transcript));
  const isShown = turnGates(agent, step.context).length === 0;
  const feed = createDeltaFeed((events, isImmediate) => deps.ledger.appendEvents(step, events, isImmediate), {
    step: step.step,
    attempt: attempt.number,
    openStream: deps.scrubber.stream,
  });
  const request = {
    ...prompt,
    images,
    tools,
    thinking: agent.thinking,
    maxOutputTokens: agent.limits?.output_tokens,
    idempotencyKey: answerIdOf(step.turn, step.step),
    attempt: attempt.number,
    signal: attempt.signal,
    // An answer that gates must judge is shown after they have.
    onDelta: isShown ? feed.add : () => undefined,
    onThinking: isShown && agent.show_thinking ? feed.think : undefined,
  };
  try {
    const generated = await ask(deps, run, request, 'answer', {
      onFallback: feed.reset,
      onFailed: run.onFailed,
    });
    const { answer, ref } = generated;
    meter.add(answer.usage, deps.models.cost(ref, answer.usage)?.usd);
    return generated;
  } finally {
    await feed.close();
  }
}
