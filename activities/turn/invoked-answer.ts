/** A call over the API is a turn without a model: its message lists the tools, and its answer is their result. */
import { type ModelAnswer, NO_MODEL } from '#domain/model/model.ts';
import type { Step } from './step.ts';
import { invocationPlace, type InvokedCall } from '#store/turns/message-store.ts';
import type { Sealer } from '#store/seal.ts';

/** An answer before it is recorded; `ref` is the model that gave it. */
export interface InvokedAnswer {
  readonly answer: ModelAnswer;
  readonly ref: string;
}

/** Undefined for a turn whose message a model answers. */
export function invokedCalls({ transcript, turn }: Step): readonly InvokedCall[] | undefined {
  return transcript.rows.find((row) => row.turn === turn && row.role === 'user')?.invoke;
}

export function invokedAnswer(sealer: Sealer, step: Step, calls: readonly InvokedCall[]): InvokedAnswer {
  const results = step.transcript.rows.at(-1)?.messages.at(-1);
  const done = step.step > 1 && results?.role === 'tool';
  const answer: ModelAnswer = {
    text: done ? results.results.map((result) => result.text).join('\n') : '',
    calls: done ? [] : calls.map((call) => ({ name: call.tool, args: realArgs(sealer, step, call) })),
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    finish: done ? 'stop' : 'calls',
  };
  return { answer, ref: NO_MODEL };
}

function realArgs(
  sealer: Sealer,
  { tenant, turn }: Step,
  { args, sealed }: InvokedCall,
): Readonly<Record<string, unknown>> {
  if (sealed === undefined) return args;
  return JSON.parse(sealer.open(sealed, invocationPlace(tenant, turn))) as Record<string, unknown>;
}
