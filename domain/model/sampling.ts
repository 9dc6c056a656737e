/**
 * What an MCP server requests of the agent's model (`sampling/createMessage` of both revisions), within our limits. Its
 * texts are hostile.
 */
import { isRecord } from '../outside-value.ts';
import type { mcpFormSchema } from '../schema/form.ts';
import type { Kept } from '../schema/scalars.ts';

export type SamplingPrompt = NonNullable<Kept<typeof mcpFormSchema>['prompt']>;

/** Greatest time of an answer in seconds. */
export const SAMPLING_SECONDS = 60;
const MAX_MESSAGES = 50;
/** Characters of all texts together: people read all of them. */
const MAX_CHARACTERS = 16_000;
const MAX_TOKENS = 4_096;
/** Characters of a line that people see. */
const LINE = 500;

/**
 * Reads `params` as a question to people without fields. Undefined when it requests tools or content other than text,
 * or exceeds the limits.
 */
export function readSampling(server: string, params: unknown) {
  if (!isRecord(params) || params['tools'] !== undefined) return undefined;
  const { systemPrompt, messages, maxTokens } = params;
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES) return undefined;
  if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1) return undefined;
  const max_tokens = Math.min(Number(maxTokens), MAX_TOKENS);
  const system = typeof systemPrompt === 'string' ? storable(systemPrompt) : '';
  const read = messages.map(readMessage);
  if (!read.every((message) => message !== undefined)) return undefined;
  const characters = read.reduce((sum, { text }) => sum + text.length, system.length);
  if (characters > MAX_CHARACTERS) return undefined;
  const message = `an answer of the agent’s model, of ${max_tokens} tokens at most`;
  return { server, message, fields: [], prompt: { system, messages: read, max_tokens } };
}

function readMessage(value: unknown): SamplingPrompt['messages'][number] | undefined {
  if (!isRecord(value)) return undefined;
  const { role, content } = value;
  if (role !== 'user' && role !== 'assistant') return undefined;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) =>
    isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? [block['text']] : [],
  );
  return texts.length === blocks.length ? { role, text: storable(texts.join('\n')) } : undefined;
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** The whole prompt for people. The server's text has a bar before each line, so that none of it can pass for ours. */
export function promptLines({ system, messages }: SamplingPrompt): string[] {
  const parts = [...(system === '' ? [] : [{ role: 'system', text: system }]), ...messages];
  const line = new RegExp(`.{1,${LINE}}`, 'gu');
  return parts.flatMap(({ role, text }) => [
    `${role}:`,
    ...(text.match(line) ?? []).map((words) => `| ${words}`),
  ]);
}
