/**
 * An answer of the agent's model for an MCP server (sampling), after people have allowed it: without tools or
 * transcript, counted as the turn's use.
 */
import type { SampledAnswer } from '#domain/turn/pending-call.ts';
import { SAMPLING_SECONDS, type SamplingPrompt } from '#domain/model/sampling.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import { ModelError } from '#domain/model/model.ts';
import { agentOfTurn } from '#domain/assignment/subagent-agent.ts';
import { type ToolFailure, toolError } from '#domain/tool.ts';
import type { RunToolInput } from '#domain/turn/turn-activities.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { Attempt } from '../attempt.ts';
import { type BookDeps, bookModel } from '../budgets/book-model.ts';
import type { RunnableCall } from './claimed-call.ts';
import { generateWithFallback } from '../model/fallback.ts';
import { type Models, useOf } from '../model/model-catalog.ts';
import { estimatePromptTokens } from '../model/prompt-size.ts';

export interface SampleDeps {
  readonly models: Pick<Models, 'resolve' | 'cost' | 'seesImages'>;
  readonly budgets: BookDeps['budgets'];
  readonly scrubber: Scrubber;
}

const SYSTEM =
  'An MCP server asks you for a text, and a person has allowed it. You have no tools, and nothing of your other work belongs in it.';

/** `holder` identifies its reservation. Throws errors that end the attempt. */
export async function sampleModel(
  { models, budgets, scrubber }: SampleDeps,
  { tenant }: RunToolInput,
  { session, turn, agent, context }: RunnableCall,
  attempt: Attempt,
  holder: string,
  { system, messages, max_tokens: maxOutputTokens }: SamplingPrompt,
): Promise<SampledAnswer | ToolFailure> {
  const { model } = agentOfTurn(agent, context);
  const refs = typeof model === 'string' ? [model] : model;
  const patience = AbortSignal.timeout(SAMPLING_SECONDS * 1000);
  const request = {
    system: scrubber.text(`${SYSTEM}\n\n${system}`.trim()),
    messages: messages.map(({ role, text }): ChatMessage => {
      const words = scrubber.text(text);
      return role === 'user' ? { role, text: words } : { role, text: words, calls: [] };
    }),
    tools: [],
    maxOutputTokens,
    idempotencyKey: holder,
    attempt: attempt.number,
    signal: AbortSignal.any([attempt.signal, patience]),
    onDelta: () => undefined,
  };
  const usage = {
    inputTokens: estimatePromptTokens(request),
    outputTokens: maxOutputTokens,
    cachedInputTokens: 0,
  };
  const booking = { tenant, session, turn, holder, attempt: attempt.number, ref: refs[0] ?? '', usage };
  try {
    const done = await bookModel({ models, budgets }, booking, async (note) => {
      const message = await generateWithFallback(models, refs, request, { onFailed: note });
      note(useOf(models, 'sampling', message.ref, message.answer.usage));
      return message;
    });
    if ('exceeded' in done) return toolError('BudgetExceeded', done.exceeded);
    const { answer, ref } = done.result;
    return {
      role: 'assistant',
      content: { type: 'text', text: answer.text },
      model: ref,
      stopReason: answer.finish === 'length' ? 'maxTokens' : 'endTurn',
    };
  } catch (error) {
    attempt.signal.throwIfAborted();
    if (!patience.aborted && !(error instanceof ModelError)) throw error;
    const why = error instanceof ModelError ? error.message : `none came within ${SAMPLING_SECONDS} s`;
    return toolError(
      'ExecutionFailed',
      `the model gave the MCP server no answer, and the call was ended: ${why}`,
    );
  }
}
