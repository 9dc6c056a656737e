/** What a client says in a message: text, and answers to what its task waits for. */
import { type Message, type Part, Role } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import type { CallAnswers } from '#api/answer-calls.ts';
import { readFilePart, type SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import { artifactAddress } from './answer-files.ts';
import { isRecord } from '#domain/outside-value.ts';

export interface ReadMessage {
  /** The text parts, and data parts that are no answers as JSON. */
  readonly text: string;
  readonly files: readonly SentFile[];
  readonly decisions: CallAnswers['decisions'];
}

const MAX_PARTS = 1_000;
const MAX_ID = 300;
/** What a decision takes. */
const MAX_REASON = 16_384;

/** The SDK makes texts of all other values. @throws A2AError */
export function checkTexts(params: unknown): void {
  const message = isRecord(params) ? params['message'] : undefined;
  const parts = isRecord(message) ? message['parts'] : undefined;
  for (const part of Array.isArray(parts) ? parts : [])
    if (isRecord(part) && typeof (part['text'] ?? '') !== 'string')
      throw new RequestMalformedError('The text of a part in message.parts must be a string');
}

/** @throws A2AError for files that are elsewhere, and for a message without content, id or role */
export function readMessage({ messageId, parts, role }: Message, base: string): ReadMessage {
  if (role !== Role.ROLE_USER) throw new RequestMalformedError('message.role must be ROLE_USER');
  if (messageId === '' || messageId.length > MAX_ID)
    throw new RequestMalformedError(`message.messageId must have 1 to ${MAX_ID} characters`);
  if (parts.length > MAX_PARTS)
    throw new RequestMalformedError(`message.parts has ${parts.length} parts; ${MAX_PARTS} are possible`);
  const decisions = parts.flatMap((part) => decisionOf(part) ?? []);
  const text = parts.flatMap((part) => (decisionOf(part) ? [] : textOf(part))).join('\n');
  const files = parts.flatMap((part) => fileOf(part, base));
  if (text.trim() === '' && files.length + decisions.length === 0)
    throw new RequestMalformedError('message.parts has no text, no file and no answer');
  return { text, files, decisions };
}

/** `{"approval": "apr_…", "approve": true}`, with `reason` or, for a form, with `answer`. */
function decisionOf({ content }: Part): CallAnswers['decisions'][number] | undefined {
  const data: unknown = content?.$case === 'data' ? content.value : undefined;
  if (!isRecord(data) || typeof data['approval'] !== 'string') return undefined;
  const { approval, approve, answer, reason } = data;
  if (isRecord(answer)) return { approval, approve: true, args: answer };
  if (typeof approve !== 'boolean')
    throw new RequestMalformedError(
      'A data part with `approval` needs `approve` (true or false) or `answer`',
    );
  return {
    approval,
    approve,
    ...(typeof reason === 'string' && { reason: reason.slice(0, MAX_REASON).toWellFormed() }),
  };
}

function textOf({ content }: Part): string[] {
  if (content?.$case === 'text') return [content.value];
  if (content?.$case === 'data') return [JSON.stringify(content.value) ?? ''];
  if (!content) throw new RequestMalformedError('A part in message.parts has no content');
  return [];
}

/** `base`: the address of this API, whose files a client may name as it got them. */
function fileOf({ content, mediaType: type, filename: name }: Part, base: string): SentFile[] {
  if (content?.$case === 'raw')
    return [{ bytes: Buffer.from(content.value), type: type || undefined, name: name || undefined }];
  if (content?.$case !== 'url') return [];
  try {
    const ours = artifactAddress(base, '');
    const url = content.value.startsWith(ours) ? content.value.slice(ours.length) : content.value;
    return [readFilePart({ part: 'url', url, type, name })];
  } catch (error) {
    if (error instanceof Failure) throw new ContentTypeNotSupportedError(error.message);
    throw error;
  }
}
