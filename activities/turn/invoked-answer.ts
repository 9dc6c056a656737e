/** A call made over the API is a turn without a model: its message says which tools, its answer is their result. */
import type { ModelAnswer } from '#domain/model.ts';
import type { CallModelInput } from '#domain/turn.ts';
import type { Transcript } from '../prompt/transcript-cache.ts';
import { invocationPlace, type InvokedCall } from '#store/message-store.ts';
import type { Sealer } from '#store/seal.ts';

/** An answer before it is recorded; `ref` is the model that gave it. */
export interface AnswerGiven {
  readonly answer: ModelAnswer;
  readonly ref: string;
}

/** Stands where a model's reference stands, for an answer that no model gave. */
export const NO_MODEL = 'none';

/** Undefined for a message that a model answers. */
export function invokedAnswer(
  sealer: Sealer,
  transcript: Transcript,
  input: CallModelInput,
): AnswerGiven | undefined {
  const first = transcript.rows.find((row) => row.turn === input.turn && row.role === 'user');
  if (!first?.invoke) return undefined;
  const results = transcript.rows.at(-1)?.messages.at(-1);
  const done = input.step > 1 && results?.role === 'tool';
  const answer: ModelAnswer = {
    text: done ? results.results.map((result) => result.text).join('\n') : '',
    calls: done ? [] : first.invoke.map((call) => ({ name: call.tool, args: realArgs(sealer, input, call) })),
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    finish: done ? 'stop' : 'calls',
  };
  return { answer, ref: NO_MODEL };
}

function realArgs(
  sealer: Sealer,
  input: CallModelInput,
  { args, sealed }: InvokedCall,
): Readonly<Record<string, unknown>> {
  if (sealed === undefined) return args;
  const real = sealer.open(sealed, invocationPlace(input.tenant, input.turn));
  return JSON.parse(real) as Record<string, unknown>;
}
