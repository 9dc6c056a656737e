/** What a front end sends: the chat with all its messages, of which the last one has what is new. */
import { z } from 'zod';
import type { CallAnswers } from '#api/answer-calls.ts';
import { readFilePart, type SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';
import { clientToolsSchema } from '#domain/schema/client-tool.ts';
import { textSchema } from '#domain/schema/scalars.ts';

const words = textSchema(262_144);

/** Text, files, steps and calls of tools; the fields are those of the AI SDK's `UIMessage`. */
const part = z.looseObject({
  type: z.string().max(128),
  text: words.optional(),
  toolCallId: z.string().max(300).optional(),
  state: z.string().max(64).optional(),
  output: z.unknown().optional(),
  errorText: words.optional(),
  url: z.string().optional(),
  mediaType: z.string().max(200).optional(),
  filename: z.string().max(1_000).optional(),
  approval: z.looseObject({ id: z.string().max(300) }).optional(),
});

const message = z.looseObject({
  id: z.string().max(300).optional(),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(part).max(5_000),
});

export const chatRequestSchema = z.looseObject({
  id: z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must be 1 to 128 letters, digits, ".", "_", ":" or "-"'),
  messages: z.array(message).min(1).max(5_000),
  tools: clientToolsSchema.optional().describe('Tools of the front end'),
  trigger: z
    .string()
    .max(64)
    .optional()
    .describe('`regenerate-message` asks for another answer to the same message'),
});

type Part = z.output<typeof part>;
export type ChatRequest = z.output<typeof chatRequestSchema>;

/** The same for a request that is sent again; undefined when each request is meant anew. */
export function requestName({ id, messages, trigger }: ChatRequest): string | undefined {
  const last = messages.at(-1);
  if (last?.id === undefined || last.id === '' || trigger === 'regenerate-message') return undefined;
  return JSON.stringify([id, messages.length, last.id, last.parts.map(({ text, url }) => text ?? url)]);
}

export interface NewInChat extends CallAnswers {
  readonly text: string;
  readonly files: readonly SentFile[];
}

/** Throws InvalidInput when nothing is new, Unprocessable for files that are elsewhere. */
export function readChat({ messages }: ChatRequest): NewInChat {
  const last = messages.at(-1);
  const parts = last?.parts ?? [];
  const isUser = last?.role === 'user';
  const written = isUser ? parts : [];
  const text = written.flatMap(textOf).join('\n');
  const files = written.flatMap(fileOf);
  const results = isUser ? [] : parts.flatMap(resultOf);
  const decisions = isUser ? [] : parts.flatMap(decisionOf);
  if (text.trim() === '' && files.length + results.length + decisions.length === 0)
    throw new Failure(
      'InvalidInput',
      'The last message has nothing new: no text or file of a user, no result, no decision',
    );
  return { text, files, results, decisions };
}

function textOf({ type, text = '' }: Part): string[] {
  if (type === 'text') return [text];
  if (type === 'file') return [];
  throw new Failure('Unprocessable', `${type}: a message of the user has text and files`);
}

function fileOf({ type: part, url, mediaType: type, filename: name }: Part): SentFile[] {
  return part === 'file' ? [readFilePart({ part, url, type, name })] : [];
}

/** Calls of the front end's tools have the ids of their approvals. */
function resultOf({ toolCallId: call = '', state, output, errorText }: Part): CallAnswers['results'] {
  if (!call.startsWith('apr_')) return [];
  if (state === 'output-available')
    return [{ call, text: typeof output === 'string' ? output : (JSON.stringify(output) ?? '') }];
  return state === 'output-error' ? [{ call, text: `Error: ${errorText ?? ''}` }] : [];
}

function decisionOf({ state, approval }: Part): CallAnswers['decisions'] {
  if (state !== 'approval-responded' || !isRecord(approval)) return [];
  const { id, approved, reason } = approval;
  const words =
    typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, MAX_REASON).toWellFormed() } : {};
  return [{ approval: id, approve: approved === true, ...words }];
}

/** What a decision takes. */
const MAX_REASON = 16_384;
