/** What a client sends to start or resume a run. */
import { z } from 'zod';
import type { CallAnswers } from '#api/answer-calls.ts';
import { readFilePart, type SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';
import { MAX_MESSAGE } from '#domain/schema/message.ts';
import { nameSchema, textSchema } from '#domain/schema/scalars.ts';
import type { SubmitMode } from '#domain/turn/turn.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';

/** Without those that show the inside of a graph, such as `debug`. */
export const STREAM_MODES = ['values', 'updates', 'messages', 'messages-tuple', 'custom'] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

const words = textSchema(MAX_MESSAGE);
const messageSchema = z.looseObject({
  id: z.string().max(300).nullish(),
  role: z.string().max(64).optional(),
  type: z.string().max(64).optional(),
  content: z.union([
    words,
    z.array(z.looseObject({ type: z.string().max(64), text: words.optional() })).max(1_000),
  ]),
});
type Message = z.output<typeof messageSchema>;

const mode = z.enum(STREAM_MODES);
export const modesSchema = z
  .union([mode.transform((one) => [one]), z.array(mode).max(STREAM_MODES.length)])
  .default(['values']);

export const runRequestSchema = z.looseObject({
  assistant_id: nameSchema,
  input: z
    .looseObject({ messages: z.union([words, z.array(messageSchema).max(1_000)]).optional() })
    .nullish(),
  command: z.looseObject({ resume: z.unknown().optional() }).nullish(),
  stream_mode: modesSchema,
  multitask_strategy: z.enum(['reject', 'interrupt', 'rollback', 'enqueue']).nullish(),
});
export type RunRequest = z.output<typeof runRequestSchema>;

export function modeOf({ multitask_strategy: strategy }: RunRequest): SubmitMode | null {
  if (strategy === 'rollback')
    throw new Failure(
      'Unprocessable',
      'multitask_strategy: what a turn has done is not taken back; use interrupt',
    );
  return strategy === 'reject' || strategy === 'interrupt' ? strategy : null;
}

export interface NewInRun {
  readonly text: string;
  readonly files: readonly SentFile[];
  /** The client's id of what it says. */
  readonly id: string | undefined;
}

/** Throws Unprocessable for what is not from a user, and for files that are elsewhere. */
export function readInput({ input }: RunRequest): NewInRun {
  const messages = input?.messages ?? [];
  if (typeof messages === 'string') return { text: messages, files: [], id: undefined };
  const read = messages.map(partsOf);
  return {
    text: read.map(({ text }) => text).join('\n\n'),
    files: read.flatMap(({ files }) => files),
    id: messages.at(-1)?.id ?? undefined,
  };
}

function partsOf({ role, type, content }: Message): Pick<NewInRun, 'text' | 'files'> {
  const by = role ?? type;
  if (by !== 'user' && by !== 'human')
    throw new Failure('Unprocessable', 'input.messages: only messages of the user are passed on');
  if (typeof content === 'string') return { text: content, files: [] };
  return {
    text: content
      .flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
      .join('\n'),
    files: content.filter(({ type, text }) => type !== 'text' || text === undefined).map(fileOf),
  };
}

/** The forms of LangChain: of OpenAI, and its own by both of their names for each field. */
function fileOf({ type: part, ...fields }: Exclude<Message['content'], string>[number]): SentFile {
  const { image_url: image, url, data, id, fileId, mime_type, mimeType, metadata } = fields;
  if (part === 'image_url') return readFilePart({ part, url: isRecord(image) ? image['url'] : image });
  return readFilePart({
    part,
    url,
    data,
    id: fileId ?? id,
    type: mimeType ?? mime_type,
    name: isRecord(metadata) ? (metadata['filename'] ?? metadata['name']) : undefined,
  });
}

/** What a decision takes. */
const MAX_REASON = 16_384;

const decisionSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('approve') }),
  z.looseObject({
    type: z.literal('edit'),
    edited_action: z.looseObject({ args: z.record(z.string(), z.unknown()) }),
  }),
  z.looseObject({ type: z.literal('reject'), message: z.string().max(MAX_REASON).optional() }),
]);
const decisionsSchema = z.looseObject({ decisions: z.array(decisionSchema).min(1).max(64) });

/** By the ids of interrupts, or for all that wait, in their order. */
export function readResume(resume: unknown, waits: readonly ApprovalRow[]): CallAnswers['decisions'] {
  if (isRecord(resume) && Object.keys(resume).some((id) => id.startsWith('apr_')))
    return Object.entries(resume).map(([id, value]) => decisionOf(id, value));
  const { data } = decisionsSchema.safeParse(resume);
  if (!data) throw new Failure('InvalidInput', HOW);
  // Somebody has decided elsewhere.
  if (waits.length === 0) return [];
  if (data.decisions.length !== waits.length)
    throw new Failure('InvalidInput', `command.resume: ${waits.length} decisions are needed. ${HOW}`);
  return data.decisions.map((one, at) => decisionOf(waits[at]?.id ?? '', one));
}

const HOW =
  'command.resume is {"decisions": [{"type": "approve" | "edit" | "reject"}]}, or such objects by the ids of interrupts';

function decisionOf(approval: string, value: unknown): CallAnswers['decisions'][number] {
  const only = isRecord(value) && Array.isArray(value['decisions']) ? value['decisions'] : [value];
  const { data } = decisionSchema.safeParse(only[0]);
  if (!data || only.length > 1) throw new Failure('InvalidInput', HOW);
  if (data.type === 'reject')
    return {
      approval,
      approve: false,
      ...(data.message !== undefined && data.message !== '' && { reason: data.message }),
    };
  return { approval, approve: true, ...(data.type === 'edit' && { args: data.edited_action.args }) };
}
