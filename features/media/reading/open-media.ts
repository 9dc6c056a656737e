/**
 * The only way from a model's reference to the bytes of a file: an artifact, an address of the web, or a path of the
 * workspace.
 */
import { basename } from 'node:path';
import { ARTIFACT_REF, ATTACHMENT_REF } from '#domain/files/attachment.ts';
import { ARTIFACT_BYTES } from '#features/artifacts/contract.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import {
  type ArtifactPlaces,
  detectType,
  findArtifacts,
  readWhole,
  UNKNOWN_TYPE,
} from '#features/artifacts/index.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import { EgressError } from '@tempoclaw/egress';
import { FileProblem, shown } from '#activities/workspace/file-problem.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface MediaFile {
  /** As the model named it. */
  readonly ref: string;
  readonly name: string;
  /** Type detected from its bytes. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Where it was fetched in the end, which its links are relative to; undefined of a file. */
  readonly url?: string;
}

export interface OpenMediaDeps extends ArtifactPlaces {
  readonly egress: Egress;
  readonly files: Pick<Files, 'readBytes'>;
}

/** Time limit of the whole download. */
const FETCH_MS = 60_000;

/** @throws FileProblem, EgressError, and the signal's reason. */
export async function openMedia(deps: OpenMediaDeps, call: RunningCall, ref: string): Promise<MediaFile> {
  if (ref.startsWith('artifact:')) return openArtifact(deps, call, ref);
  // The id alone, as the API answers it.
  if (ATTACHMENT_REF.test(ref)) return openArtifact(deps, call, `artifact:${ref}`);
  if (/^https?:\/\//i.test(ref)) return fetchMedia(deps, call, ref);
  const bytes = await deps.files.readBytes(call, ref, ARTIFACT_BYTES);
  if (!bytes) throw tooLarge(ref);
  return { ref, name: basename(ref), type: await typeOf(bytes, ref), bytes };
}

async function openArtifact(
  places: OpenMediaDeps,
  { tenant, user }: RunningCall,
  ref: string,
): Promise<MediaFile> {
  const ids = ARTIFACT_REF.exec(ref)?.slice(1) ?? [];
  const [row] = await findArtifacts(forTenant(places.pool, tenant), ids, user);
  const bytes = row && (await readWhole(places, tenant, row));
  if (!row || !bytes)
    throw new FileProblem(
      'FileNotFound',
      `there is no ${shown(ref)}: it may have been removed, or is another user’s`,
    );
  return { ref, name: row.filename ?? row.id, type: row.type, bytes };
}

async function fetchMedia(
  { egress }: OpenMediaDeps,
  { tenant, callId, egress: rules, signal }: RunningCall,
  ref: string,
): Promise<MediaFile> {
  const limits = { bytes: ARTIFACT_BYTES, totalMs: FETCH_MS };
  const client = egress.open({ labels: { tenant, purpose: 'read_media', callId }, rules, limits });
  try {
    const response = await client.fetch(ref, { signal });
    if (!response.ok) {
      await response.body?.cancel();
      throw new FileProblem('ExecutionFailed', `${shown(ref)} answered ${response.status}`);
    }
    const bytes = Buffer.from(await response.arrayBuffer());
    const { pathname } = new URL(response.url);
    const type = response.headers.get('content-type') ?? '';
    return {
      ref,
      name: basename(pathname) || 'file',
      type: (await detectType(bytes, type)) ?? (await typeOf(bytes, pathname)),
      bytes,
      url: response.url,
    };
  } catch (error) {
    signal.throwIfAborted();
    // fetch throws this for an invalid address.
    if (error instanceof TypeError)
      throw new FileProblem('InvalidArgs', `${shown(ref)} cannot be asked: ${error.message}`);
    if (error instanceof EgressError && error.rule === 'too_large') throw tooLarge(ref);
    throw error;
  } finally {
    await client.close();
  }
}

/** For text, the name shows the type that the bytes do not. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
};

async function typeOf(bytes: Buffer, path: string): Promise<string> {
  const named = TEXT_TYPES[/\.(\w{1,8})$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  return (await detectType(bytes, named)) ?? (await detectType(bytes)) ?? UNKNOWN_TYPE;
}

function tooLarge(ref: string): FileProblem {
  return new FileProblem('ExecutionFailed', `${shown(ref)} has more than ${ARTIFACT_BYTES} bytes`);
}
