/** Files in the requests of protocols, by their bytes or as artifacts: they become attachments of a message. */
import { Failure } from '#domain/errors.ts';
import {
  ATTACHMENT_REF,
  type Attachment,
  attachmentLine,
  type FileBytes,
  MAX_ATTACHMENTS,
} from '#domain/files/attachment.ts';
import type { ApiDeps } from './deps.ts';

export type SentFile = { readonly artifact: string } | FileBytes;

/** Bytes of a request that may contain files, as base64. */
export const MAX_BODY_WITH_FILES = 33_554_432;

/** What a part of a message says about its file, by whatever names its protocol has. */
export interface FilePart {
  /** The protocol's name for the part. */
  readonly part: string;
  /** `data:`, or an artifact. */
  readonly url?: unknown;
  /** Base64, with or without `data:` before it. */
  readonly data?: unknown;
  /** Of an artifact. */
  readonly id?: unknown;
  readonly type?: unknown;
  readonly name?: unknown;
}

/** @throws Failure Unprocessable for a file elsewhere, which is not fetched, and for what is not base64 */
export function readFilePart({ part, url, data, id, type, name }: FilePart): SentFile {
  const artifact = [id, url].find((one) => typeof one === 'string' && ATTACHMENT_REF.test(one));
  if (typeof artifact === 'string') return { artifact };
  const content = [data, url].find((one) => typeof one === 'string' && one !== '');
  const isData = typeof content === 'string' && content.startsWith('data:');
  if (typeof content !== 'string' || !(isData || content === data))
    throw new Failure(
      'Unprocessable',
      `${part.slice(0, 64)}: send the file as base64 or as a data: address, or upload it with POST /v1/artifacts and name its id; other addresses are not fetched`,
    );
  const read = isData ? readDataUrl(content) : { bytes: readBase64(content) };
  if (!read.bytes) throw new Failure('Unprocessable', `${part.slice(0, 64)}: the file is not base64`);
  return {
    bytes: read.bytes,
    type: mediaType(type) ?? mediaType(read.type),
    name: typeof name === 'string' && name !== '' ? name : undefined,
  };
}

/** RFC 2397. */
function readDataUrl(url: string): { readonly bytes: Buffer | undefined; readonly type?: string } {
  const comma = url.indexOf(',');
  const [type = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';');
  const content = url.slice(comma + 1);
  if (comma < 0) return { bytes: undefined };
  if (parameters.at(-1)?.trim().toLowerCase() === 'base64') return { bytes: readBase64(content), type };
  try {
    return { bytes: Buffer.from(decodeURIComponent(content)), type };
  } catch {
    return { bytes: undefined };
  }
}

/** Buffer skips what is not base64, so that the length shows it. */
function readBase64(text: string): Buffer | undefined {
  const digits = text.replace(/[\s=]+/g, '');
  const bytes = Buffer.from(digits, 'base64');
  return bytes.length === Math.floor((digits.length * 3) / 4) ? bytes : undefined;
}

/** `image/*` and other patterns say nothing about the file. */
function mediaType(type: unknown): string | undefined {
  return typeof type === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type) ? type : undefined;
}

export interface MessageWithFiles {
  readonly text: string;
  readonly user: string | undefined;
  readonly files: readonly SentFile[];
  /** Where the request names artifacts, for errors. */
  readonly pointer?: string;
}

/** The message with its files as attachments, which its text names. Safe to repeat. @throws Failure Unprocessable */
export async function withFiles(
  deps: ApiDeps,
  tenant: string,
  { text, user: named, files, pointer }: MessageWithFiles,
): Promise<{ readonly text: string; readonly attachments: readonly Attachment[] | undefined }> {
  if (files.length === 0) return { text, attachments: undefined };
  if (files.length > MAX_ATTACHMENTS)
    throw new Failure('Unprocessable', `A message may have ${MAX_ATTACHMENTS} files, not ${files.length}`);
  const user = named ?? null;
  const { findAttachments, keepAttachment } = deps;
  if (!findAttachments || !keepAttachment)
    throw new Failure('Unprocessable', 'This installation has no feature that stores files for messages');
  const refs = files.flatMap((file) => ('artifact' in file ? [file.artifact] : []));
  const found = refs.length > 0 ? [...(await findAttachments(tenant, user, refs, pointer))] : [];
  const attachments: Attachment[] = [];
  // One after the other, because each may be large.
  for (const file of files)
    attachments.push(
      ...('artifact' in file ? found.splice(0, 1) : [await keepAttachment(tenant, user, file)]),
    );
  return { text: [text, ...attachments.map(attachmentLine)].join('\n'), attachments };
}
