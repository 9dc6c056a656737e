/** Asks the model for one step: offers the tools, makes the transcript shorter when it must, and counts what is used. */
import type { AgentConfig } from '#domain/agent.ts';
import type { Spent } from '#domain/budget.ts';
import { createMeter, type Meter } from '#domain/budget/meter.ts';
import { turnGates } from '#domain/gate.ts';
import { answerIdOf } from '#domain/ids.ts';
import type { WorkerPart } from '#domain/feature.ts';
import { imageTokens } from '#domain/image.ts';
import { ModelError, type ModelRequest, type OfferedTool } from '#domain/model.ts';
import type { ToolGroup } from '#domain/policy/tool-groups.ts';
import { storableText } from '#domain/storable-text.ts';
import type { Thinking } from '#domain/thinking.ts';
import type { ModelUse } from '#domain/model-use.ts';
import type { CallModelInput } from '#domain/turn.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import type { AgentLinks } from '../assignments/agent-links.ts';
import { createDeltaFeed } from './delta-feed.ts';
import type { AnswerGiven } from './invoked-answer.ts';
import { type FallbackOptions, generateWithFallback } from '../model/fallback.ts';
import { type Models, useOf } from '../model/model-catalog.ts';
import type { PlanDeps } from '../tool-call/plan-calls.ts';
import { buildPrompt, type Prompt } from '../prompt/build-prompt.ts';
import type { ContextFiles } from '../prompt/context-files.ts';
import { deferredGuide, promptTools } from '#policy/deferred-tools.ts';
import { isNearlyFull, planCompaction, tokensOf } from '../prompt/compact.ts';
import { newestImages, readImages } from '../prompt/prompt-images.ts';
import { promptGuides } from '../prompt/prompt-guides.ts';
import type { Transcript } from '../prompt/transcript-cache.ts';
import type { StepBasis } from '#store/step-basis.ts';
import type { TurnLedger } from '#store/turn-ledger.ts';
import type { Attempt } from '../attempt.ts';

export interface AskModelDeps extends Pick<PlanDeps, 'catalog' | 'rules' | 'scrubber'> {
  readonly ledger: Pick<TurnLedger, 'appendEvents' | 'readFiles' | 'recordSummary'>;
  readonly models: Models;
  readonly budgets: BudgetGuard;
  readonly guide: AgentLinks['guide'];
  readonly contextFiles: ContextFiles;
  /** Of features. */
  readonly summarized: readonly NonNullable<WorkerPart['summarized']>[];
  readonly promptPieces: readonly NonNullable<WorkerPart['promptPiece']>[];
}

/** What one attempt works with: `meter` counts what it uses, `onFailed` what it has used in vain. */
type Try = AskModelDeps &
  Pick<FallbackOptions, 'onFailed'> & { readonly meter: Meter; readonly attempt: Attempt };

/** The answer with what it took. What failed gives back what it surely has not used. */
export async function askModel(
  parts: AskModelDeps,
  input: CallModelInput,
  attempt: Attempt,
  basis: StepBasis,
  agent: AgentConfig,
  transcript: Transcript,
): Promise<AnswerGiven & { readonly spent: Spent; readonly uses?: readonly ModelUse[] }> {
  const uses: ModelUse[] = [];
  const meter = createMeter();
  const onFailed = (use: ModelUse): void => {
    uses.push(use);
    meter.add(use.usage, use.usd);
  };
  const deps: Try = { ...parts, onFailed, attempt, meter };
  const startedAt = performance.now();
  const spent = (): Spent => deps.meter.spent((performance.now() - startedAt) / 1000);
  try {
    const options = await ask(deps, input, basis, agent, transcript);
    return { ...options, spent: spent(), uses: uses.length > 0 ? uses : undefined };
  } catch (error) {
    const models = typeof agent.model === 'string' ? 1 : agent.model.length;
    const failure = { error, models, spent: spent(), uses };
    await deps.budgets.releaseFailed(input, basis.budget, attempt.number, failure);
    throw error;
  }
}

async function ask(
  deps: Try,
  input: CallModelInput,
  basis: StepBasis,
  agent: AgentConfig,
  transcript: Transcript,
): Promise<AnswerGiven> {
  const refs = typeof agent.model === 'string' ? [agent.model] : agent.model;
  const window = Math.min(...refs.map((ref) => deps.models.contextWindow(ref)));
  let current = transcript;
  const sees = refs.some((ref) => deps.models.seesImages(ref));
  const shownOf = (of: Transcript) => (sees ? newestImages(of) : new Map<string, never>());
  if (isNearlyFull(current, window, imageTokens([...shownOf(current).values()].flat())))
    current = await compact(deps, input, basis, agent, current, window);
  const offered = deps.rules.offered({ ...basis, agent }, deps.catalog);
  const dialect = agent.tool_names ?? 'canonical';
  const step = { ...input, agent, basis, offered };
  const pieces = await Promise.all(deps.promptPieces.map((piece) => piece(step)));
  const unneeded = new Set(pieces.flatMap((piece) => piece?.unneeded ?? []));
  const useful = offered.filter((name) => !unneeded.has(name));
  const messages = current.rows.flatMap((row) => row.messages);
  const split = promptTools(deps.catalog, useful, { groups: groupsOf(basis), dialect, messages });
  const tools = deps.catalog.offer(dialect, split.described);
  const files = await deps.contextFiles(input.tenant, agent, basis, window);
  const generated = await promptGuides(deps.guide, input.tenant, basis, tools);
  const texts = [files, ...pieces.map((piece) => piece?.text)];
  const guides = texts.flatMap((text) => (text === undefined ? [] : [deps.scrubber.text(text)]));
  guides.push(...generated);
  const deferred = deferredGuide(deps.catalog, split, dialect);
  if (deferred !== undefined) guides.push(deferred);
  const once = async (of: Transcript): Promise<AnswerGiven> =>
    generate(deps, input, refs, {
      ...buildPrompt(agent, of, input.turn, guides),
      images: await readImages(deps.ledger, input.tenant, shownOf(of)),
      tools,
      isShown: turnGates(agent, basis.context).length === 0,
      thinking: agent.thinking,
      maxOutputTokens: agent.limits?.output_tokens,
    });
  try {
    return await once(current);
  } catch (error) {
    if (!(error instanceof ModelError && error.code === 'ContextOverflow')) throw error;
    // The window is smaller than we think: what was refused is the better measure.
    const smaller = await compact(
      deps,
      input,
      basis,
      agent,
      current,
      Math.min(window, tokensOf(current)) / 2,
    );
    if (smaller === current) throw error;
    return once(smaller);
  }
}

/** What the turn is about beside what its message says. */
function groupsOf({ leads, links, context }: StepBasis): readonly ToolGroup[] {
  return [
    ...(leads || context.team ? (['teams'] as const) : []),
    ...(links ? (['delegation'] as const) : []),
    ...(context.channel === undefined ? [] : (['messaging'] as const)),
  ];
}

/** Gives the same transcript back when nothing can be left out of it. */
async function compact(
  deps: Try,
  input: CallModelInput,
  basis: StepBasis,
  agent: AgentConfig,
  transcript: Transcript,
  window: number,
): Promise<Transcript> {
  const refs = typeof agent.model === 'string' ? [agent.model] : agent.model;
  const plan = planCompaction(transcript, window);
  if (!plan) return transcript;
  const request = {
    system: 'You write summaries.',
    messages: plan.messages,
    tools: [],
    idempotencyKey: `${answerIdOf(input.turn, input.step)}.summary.${plan.position}`,
    signal: deps.attempt.signal,
    onDelta: () => undefined,
  };
  const { answer, ref } = await generateWithFallback(deps.models, refs, request, deps);
  const use = useOf(deps.models, 'summary', ref, answer.usage);
  deps.meter.add(use.usage, use.usd);
  const summary = storableText(deps.scrubber.text(answer.text));
  // Before the record: from then on nobody makes this summary again.
  if (agent.memory?.at_compaction && !basis.context.subagent)
    for (const summarized of deps.summarized)
      await summarized(
        { ...input, agent: agent.key, user: basis.user, readOutside: deps.rules.outside(basis.used) },
        summary,
      );
  await deps.ledger.recordSummary(input, summary, plan.position, use);
  return {
    summary,
    summaryPosition: plan.position,
    rows: transcript.rows.filter((row) => row.position > plan.position),
  };
}

async function generate(
  deps: Try,
  input: CallModelInput,
  refs: readonly string[],
  {
    isShown,
    ...request
  }: Prompt & {
    images: ModelRequest['images'];
    tools: readonly OfferedTool[];
    maxOutputTokens?: number;
    thinking?: Thinking;
    isShown: boolean;
  },
): Promise<AnswerGiven> {
  const { number: attempt, signal } = deps.attempt;
  const feed = createDeltaFeed(
    (events, isImmediate) => deps.ledger.appendEvents(input, events, isImmediate),
    {
      step: input.step,
      attempt,
      secrets: deps.scrubber.stream(),
    },
  );
  try {
    const options = await generateWithFallback(
      deps.models,
      refs,
      {
        ...request,
        idempotencyKey: answerIdOf(input.turn, input.step),
        attempt,
        signal,
        // What gates have yet to judge is told when they have.
        onDelta: isShown ? feed.add : () => undefined,
      },
      { onFallback: feed.reset, onFailed: deps.onFailed },
    );
    deps.meter.add(options.answer.usage, deps.models.cost(options.ref, options.answer.usage)?.usd);
    return options;
  } finally {
    await feed.close();
  }
}
