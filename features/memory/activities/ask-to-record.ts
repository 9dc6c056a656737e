/**
 * Calls a model to record what a text states, by one tool call outside any turn. The agent's budgets reserve it first,
 * and it is given up after a while.
 */
import { Context } from '@temporalio/activity';
import { createMeter } from '#domain/budget/meter.ts';
import type { DocumentScope } from '#domain/files/document.ts';
import { indexWorkflowId } from '../index-id.ts';
import { ModelError, type ModelRequest, type OfferedTool } from '#domain/model/model.ts';
import { costsNothing, type ModelUse } from '#domain/budget/model-use.ts';
import type { BudgetGuard } from '#activities/budgets/budget-guard.ts';
import { generateWithFallback } from '#activities/model/fallback.ts';
import { type Models, useOf } from '#activities/model/model-catalog.ts';
import { estimatePromptTokens } from '#activities/model/prompt-size.ts';

export interface RecordDeps {
  readonly models: Pick<Models, 'resolve' | 'cost' | 'seesImages'>;
  /** Without budget, it waits, as when the model is away. */
  readonly budgets: Pick<BudgetGuard, 'around'>;
}

/** What to read, and the one tool call that should answer it. */
export interface RecordRequest extends Pick<ModelRequest, 'system' | 'messages' | 'idempotencyKey'> {
  readonly kind: ModelUse['kind'] & ('knowledge' | 'memory');
  readonly refs: readonly string[];
  readonly tool: OfferedTool;
  readonly answerTokens: number;
}

export interface Recorded {
  /** What the model records; undefined when it must be called again later. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly uses: readonly ModelUse[];
  /** True if its cost is known. */
  readonly isCounted: boolean;
}

/** For an activity of five minutes: no request starts after this time, and each is given up after this time. */
export const BEGINS_MS = 90_000;
const PATIENCE_MS = 120_000;

export async function askToRecord(
  deps: RecordDeps,
  scope: DocumentScope,
  request: RecordRequest,
): Promise<Recorded> {
  const { models, budgets } = deps;
  const { tenant, agent } = scope;
  const holder = `${indexWorkflowId(scope)}/${request.kind}`;
  const inputTokens = estimatePromptTokens({ ...request, tools: [request.tool] });
  const usage = { inputTokens, outputTokens: request.answerTokens, cachedInputTokens: 0 };
  const usd = models.cost(request.refs[0] ?? '', usage)?.usd;
  const expected = { tokens: inputTokens + request.answerTokens, usd };
  const work = { tenant, session: '', turn: null, owner: holder, holder, agent, expected };
  const done = await budgets.around(
    work,
    1,
    () => generate(deps, request),
    ({ uses, isCounted }) => {
      if (!isCounted) return undefined;
      const meter = createMeter();
      for (const use of uses) meter.add(use.usage, use.usd);
      const spent = meter.spent(0);
      return { tokens: spent.tokens, usd: spent.usd, calls: uses.length };
    },
  );
  return 'exceeded' in done ? { args: undefined, uses: [], isCounted: true } : done.result;
}

/** Errors of the text or the answer stay the same on a retry, so nothing is recorded of it. */
const OF_THE_TEXT: ReadonlySet<ModelError['code']> = new Set(['Filtered', 'ContextOverflow', 'TooLarge']);

async function generate(
  { models }: RecordDeps,
  { kind, refs, tool, answerTokens, ...request }: RecordRequest,
): Promise<Recorded> {
  const { cancellationSignal, log } = Context.current();
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const uses: ModelUse[] = [];
  try {
    const signal = AbortSignal.any([cancellationSignal, patience]);
    const onFailed = (use: ModelUse): void => void uses.push(use);
    const requested = {
      ...request,
      tools: [tool],
      maxOutputTokens: answerTokens,
      onDelta: () => undefined,
      signal,
    };
    const { answer, ref } = await generateWithFallback(models, refs, requested, { onFailed });
    uses.push(useOf(models, kind, ref, answer.usage));
    const call = answer.calls.find(({ name, invalid }) => name === tool.name && invalid === undefined);
    if (!call) log.warn('the model records nothing', { kind, model: ref });
    return { args: call?.args ?? {}, uses, isCounted: true };
  } catch (error) {
    cancellationSignal.throwIfAborted();
    if (!patience.aborted && !(error instanceof ModelError)) throw error;
    const problem = patience.aborted ? `no answer within ${PATIENCE_MS / 1000} s` : String(error);
    log.warn('nothing was recorded', { kind, models: refs.join(', '), problem });
    const code = error instanceof ModelError ? error.code : undefined;
    const isCounted = uses.length > 0 || (code !== undefined && costsNothing(code));
    return { args: code !== undefined && OF_THE_TEXT.has(code) ? {} : undefined, uses, isCounted };
  }
}
