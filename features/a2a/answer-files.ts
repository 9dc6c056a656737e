/** Files that an answer links, as parts: small ones as their bytes, larger ones by the address that a key reads. */
import type { Part } from '@a2a-js/sdk';
import type { ApiDeps } from '#api/deps.ts';
import type { Caller } from '#api/server/auth.ts';
import type { Attachment } from '#domain/files/attachment.ts';
import { linkedArtifacts } from '#domain/files/linked-artifacts.ts';
import type { TaskTurn } from './task.ts';

/** Bytes of one file that are in an answer. */
const INLINE_BYTES = 262_144;
/** The same of all files in one response, which may have many tasks. */
const RESPONSE_BYTES = 1_048_576;

export interface FileRequest {
  readonly deps: Pick<ApiDeps, 'readableFiles' | 'readFile'>;
  readonly caller: Caller;
  /** The address of this API. */
  readonly base: string;
}

export function artifactAddress(base: string, id: string): string {
  return `${base}/v1/artifacts/${id}`;
}

/**
 * The files of these turns by their ids, ten of each at most. A link to a file that the user of the turn may not read
 * brings none.
 */
export async function answerFiles(
  request: FileRequest,
  turns: readonly TaskTurn[],
): Promise<ReadonlyMap<string, readonly Part[]>> {
  const { deps, caller } = request;
  const parts = new Map<string, readonly Part[]>();
  let remaining = RESPONSE_BYTES;
  for (const { id, text, user } of turns) {
    const { ids } = linkedArtifacts(text ?? '');
    if (ids.length === 0) continue;
    const files = (await deps.readableFiles?.(caller.tenant, caller.confinedTo ?? user, ids)) ?? [];
    const own: Part[] = [];
    for (const file of files) {
      const isInline = file.size <= Math.min(INLINE_BYTES, remaining);
      if (isInline) remaining -= file.size;
      own.push(await filePart(request, file, isInline));
    }
    parts.set(id, own);
  }
  return parts;
}

async function filePart(
  { deps, caller, base }: FileRequest,
  file: Attachment,
  isInline: boolean,
): Promise<Part> {
  const { artifact, name, type, size } = file;
  const value = isInline ? await deps.readFile?.(caller.tenant, file) : undefined;
  return {
    content: value ? { $case: 'raw', value } : { $case: 'url', value: artifactAddress(base, artifact) },
    // The text of the answer names the file so.
    metadata: { artifact: `artifact:${artifact}`, bytes: size },
    filename: name ?? '',
    mediaType: type,
  };
}
