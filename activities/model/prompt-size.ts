/** Estimates the size of a prompt or an answer: for rehearsal, for servers that report no usage, and before a call. */
import { imageTokens } from '#domain/model/image.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { ModelAnswer, ModelRequest, OfferedTool } from '#domain/model/model.ts';

/** Characters per token, a rule of thumb for English text. */
const CHARS_PER_TOKEN = 4;

/** Tokens of a whole request, accurate within some tens of per cent. Costs one addition per message. */
export function estimatePromptTokens(
  request: Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'images'>,
): number {
  let chars = request.system.length;
  for (const message of request.messages) chars += charsOf(message);
  for (const tool of request.tools) chars += charsOfTool(tool);
  const images = request.images ? imageTokens([...request.images.values()].flat()) : 0;
  return Math.ceil(chars / CHARS_PER_TOKEN) + images;
}

export function estimateTextTokens(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / CHARS_PER_TOKEN);
}

/** Tokens of a model's output: its text and the calls it requested. */
export function estimateAnswerTokens(answer: Pick<ModelAnswer, 'text' | 'calls'>): number {
  const requested = answer.calls.reduce(
    (sum, call) => sum + call.name.length + JSON.stringify(call.args).length,
    0,
  );
  return Math.ceil((answer.text.length + requested) / CHARS_PER_TOKEN);
}

function charsOf(message: ChatMessage): number {
  if (message.role === 'tool') return message.results.reduce((sum, result) => sum + result.text.length, 0);
  if (message.role === 'user') return message.text.length;
  return message.calls.reduce(
    (sum, call) => sum + call.name.length + charsOfArguments(call.args),
    message.text.length,
  );
}

/**
 * Text arguments count by their length, others by a typical one: exact JSON would make the cost of a step proportional
 * to the turn.
 */
function charsOfArguments(args: Readonly<Record<string, unknown>>): number {
  let chars = 0;
  for (const key in args) chars += key.length + (typeof args[key] === 'string' ? args[key].length : 8);
  return chars;
}

/** Cached by the schema, which the offers of all steps share. */
const schemaChars = new WeakMap<OfferedTool['parameters'], number>();

function charsOfTool({ name, description, parameters }: OfferedTool): number {
  const known = schemaChars.get(parameters);
  const chars = known ?? JSON.stringify(parameters).length;
  if (known === undefined) schemaChars.set(parameters, chars);
  return name.length + description.length + chars;
}
