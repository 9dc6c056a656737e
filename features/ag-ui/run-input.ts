/** What a front end sends: a run of a thread, with all messages of which the last ones are new. */
import { RunAgentInputSchema, ToolSchema } from '@ag-ui/core/schemas';
import { z } from 'zod';
import type { CallAnswers } from '#api/answer-calls.ts';
import type { Spoken } from '#api/opening-text.ts';
import { readFilePart, type SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';
import { clientToolsSchema } from '#domain/schema/client-tool.ts';
import { sessionKeySchema, textSchema } from '#domain/schema/scalars.ts';

const MAX_MESSAGES = 5_000;
const MAX_CONTEXTS = 100;
/** Characters of context and state, which are part of each message. */
const MAX_SURROUNDINGS = 100_000;
/** What a decision takes. */
const MAX_REASON = 16_384;

const tool = ToolSchema.transform(({ name, description, parameters }) => ({
  name,
  ...(description !== '' && { description }),
  ...(parameters !== undefined && { parameters: parameters as unknown }),
}));

/** The protocol's own schema, with the limits of what is passed on. */
export const runInputSchema = RunAgentInputSchema.extend({
  threadId: sessionKeySchema.describe('The session'),
  runId: textSchema(200),
  parentRunId: textSchema(200).optional(),
  messages: RunAgentInputSchema.shape.messages.max(MAX_MESSAGES),
  tools: z.array(tool).default([]).pipe(clientToolsSchema),
  context: z
    .array(z.looseObject({ description: z.string(), value: z.string() }))
    .max(MAX_CONTEXTS)
    .default([]),
});

export type RunInput = z.output<typeof runInputSchema>;
type Message = RunInput['messages'][number];

export interface NewInRun extends CallAnswers {
  readonly text: string;
  readonly files: readonly SentFile[];
  /** What a session that begins does not have. */
  readonly instructions: string;
  readonly before: readonly Spoken[];
}

/** Throws Unprocessable for files, InvalidInput for answers that nobody can act on. */
export function readRun({ messages, context, state, resume = [] }: RunInput): NewInRun {
  const last = messages.findLastIndex((one) => one.role === 'assistant' && Boolean(one.content?.trim()));
  const added = messages.slice(last + 1);
  const spoken = added.slice(added.findLastIndex(({ role }) => role !== 'user') + 1);
  const words = spoken.map((one) => (one.role === 'user' ? wordsOf(one.content) : '')).join('\n\n');
  return {
    text: words.trim() === '' ? '' : [words, ...surroundings(context, state)].join('\n\n---\n\n'),
    files: spoken.flatMap((one) => (one.role === 'user' ? filesOf(one.content) : [])),
    instructions: messages
      .flatMap((one) => (one.role === 'system' || one.role === 'developer' ? [one.content] : []))
      .join('\n\n'),
    before: messages.slice(0, messages.length - spoken.length).flatMap(spokenOf),
    results: added.flatMap(resultOf),
    decisions: resume.map(decisionOf),
  };
}

type Content = Extract<Message, { role: 'user' }>['content'];

function wordsOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function filesOf(content: Content): SentFile[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => {
    if (part.type === 'text') return [];
    const { type, source } = part;
    const { value, mimeType } = source;
    return [readFilePart({ part: type, [source.type === 'data' ? 'data' : 'url']: value, type: mimeType })];
  });
}

/** What the application shows beside the conversation, for the agent to read. @throws Failure Unprocessable */
function surroundings(context: RunInput['context'], state: unknown): string[] {
  const parts = surroundingParts(context, state);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length > MAX_SURROUNDINGS)
    throw new Failure(
      'Unprocessable',
      `context and state have ${length} characters together; ${MAX_SURROUNDINGS} are possible`,
    );
  return parts;
}

function surroundingParts(context: RunInput['context'], state: unknown): string[] {
  const facts = context.map(({ description, value }) => `${description}: ${value}`);
  const isEmpty = state == null || JSON.stringify(state) === '{}';
  return [
    ...(facts.length > 0 ? [`Context of the application, as it sends it:\n${facts.join('\n')}`] : []),
    ...(isEmpty ? [] : [`State of the application, as it sends it:\n${JSON.stringify(state)}`]),
  ];
}

function spokenOf(message: Message): Spoken[] {
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant') return [];
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : (content ?? []);
  const text = parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  return text.trim() === '' ? [] : [{ role, text }];
}

/** Calls of the front end's tools have the ids of their approvals; other results are ours, sent back. */
function resultOf(message: Message): CallAnswers['results'] {
  if (message.role !== 'tool' || !message.toolCallId.startsWith('apr_')) return [];
  const { toolCallId: call, content, error } = message;
  if (typeof content !== 'string' && content.some((part) => part.type !== 'text'))
    throw new Failure('Unprocessable', 'only messages of the user may have files, not the result of a tool');
  const text = wordsOf(content);
  return [{ call, text: error ? `Error: ${error}\n${text}` : text }];
}

/** An interrupt that is cancelled gets no answer, and its call does not run. */
function decisionOf({
  interruptId: approval,
  status,
  payload,
}: NonNullable<RunInput['resume']>[number]): CallAnswers['decisions'][number] {
  if (status === 'cancelled') return { approval, approve: false };
  if (!isRecord(payload) || typeof payload['approved'] !== 'boolean')
    throw new Failure('InvalidInput', `resume: the payload for ${approval.slice(0, 200)} needs approved`);
  const { approved: approve, editedArgs: args, reason } = payload;
  if (!approve)
    return {
      approval,
      approve,
      ...(typeof reason === 'string' &&
        reason !== '' && { reason: reason.slice(0, MAX_REASON).toWellFormed() }),
    };
  if (args !== undefined && !isRecord(args))
    throw new Failure('InvalidInput', `resume: editedArgs for ${approval.slice(0, 200)} is no object`);
  return { approval, approve, args };
}

/** What the client has of the thread, so that a run that is sent again adds only what is missing. */
export interface Seen {
  /** Texts and thoughts by the ids of their messages. */
  readonly texts: ReadonlyMap<string, string>;
  readonly calls: ReadonlySet<string>;
  readonly results: ReadonlySet<string>;
}

export function seenIn({ messages }: RunInput): Seen {
  const assistants = messages.filter((one) => one.role === 'assistant');
  return {
    texts: new Map(
      messages.flatMap((one) =>
        one.role === 'assistant' || one.role === 'reasoning' ? [[one.id, one.content ?? '']] : [],
      ),
    ),
    calls: new Set(assistants.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))),
    results: new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []))),
  };
}
