/** Files in what a remote agent answers: they become artifacts of the user for whom the call is made. */
import type { Part } from '@a2a-js/sdk';
import { EgressError } from '@tempoclaw/egress';
import { Failure } from '#domain/errors.ts';
import { attachmentLine, MAX_ATTACHMENTS } from '#domain/files/attachment.ts';
import { type ArtifactPlaces, asAttachment, putArtifact } from '#features/artifacts/index.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { type FetchFile, RemoteRefusal } from './remote-client.ts';

export interface FileKeeper {
  readonly artifacts: ArtifactPlaces;
  readonly call: Pick<RunningCall, 'tenant' | 'user' | 'hasSecret' | 'signal'>;
  readonly fetchFile: FetchFile;
}

/** What the model reads of each file, by its part. */
export type FileLines = ReadonlyMap<Part, string>;

/** Safe to repeat. @throws Failure Unavailable, while files cannot be stored; the signal's reason */
export async function keepFiles(keeper: FileKeeper, parts: readonly Part[]): Promise<FileLines> {
  const lines = new Map<Part, string>();
  const files = parts.filter(isFile);
  // One after the other, because each may be large.
  for (const [at, part] of files.entries())
    lines.set(
      part,
      at < MAX_ATTACHMENTS
        ? await keepFile(keeper, part)
        : unkeptLine(part, `more than ${MAX_ATTACHMENTS} files`),
    );
  return lines;
}

export function isFile({ content }: Part): boolean {
  return content?.$case === 'raw' || content?.$case === 'url';
}

async function keepFile(keeper: FileKeeper, part: Part): Promise<string> {
  try {
    const bytes = await bytesOf(keeper, part);
    return bytes ? attachmentLine(asAttachment(await store(keeper, part, bytes))) : fileLine(part);
  } catch (error) {
    keeper.call.signal.throwIfAborted();
    const isFinal = error instanceof Failure && error.type !== 'Unavailable';
    if (!isFinal && !(error instanceof EgressError || error instanceof RemoteRefusal)) throw error;
    return unkeptLine(part, error.message);
  }
}

/** Undefined for a file elsewhere, whose address the model reads. */
function bytesOf({ fetchFile }: FileKeeper, { content }: Part): Promise<Buffer | undefined> {
  if (content?.$case === 'raw') return Promise.resolve(Buffer.from(content.value));
  return content?.$case === 'url' ? fetchFile(content.value) : Promise.resolve(undefined);
}

/** Also stores a file that is not of the type that the agent states. */
function store({ artifacts, call }: FileKeeper, { filename, mediaType }: Part, bytes: Buffer) {
  const { tenant, user, hasSecret } = call;
  const put = (type: string | undefined) =>
    putArtifact(artifacts, tenant, { bytes, user, type, filename, hasSecret });
  return put(mediaType || undefined).catch((error: unknown) => {
    if (!(error instanceof Failure && error.type === 'Unprocessable')) throw error;
    return put(undefined);
  });
}

const MAX_NAME = 300;

/** A file by its address; bytes only by their number. */
export function fileLine({ content, filename, mediaType }: Part): string {
  const name = [filename, mediaType]
    .map((one) => ` ${one.slice(0, MAX_NAME)}`)
    .join('')
    .trimEnd();
  if (content?.$case === 'url') return `[file${name}: ${content.value}]`;
  return content?.$case === 'raw' ? `[file${name}, ${content.value.length} bytes]` : '';
}

export function unkeptLine(part: Part, why: string): string {
  return `${fileLine(part)} (not stored: ${why})`;
}
