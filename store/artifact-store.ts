/** Artifacts (domain/artifact.ts) as rows; their bytes stand in `files`, once however often they are brought. */
import { createHash } from 'node:crypto';
import { ARTIFACT_BYTES, ARTIFACTS_BYTES, plainFilename } from '#domain/artifact.ts';
import { Failure } from '#domain/errors.ts';
import { imageProblem, readImage } from '#domain/image.ts';
import { detectType } from './detect-type.ts';
import type { Pool } from './pool.ts';
import { readRow, readRows, type RowOf } from './statements.ts';

export type ArtifactRow = RowOf<'artifacts', never>;

export interface NewArtifact {
  readonly bytes: Buffer;
  /** Null: the tenant's. */
  readonly user: string | null;
  /** As who brings it says. */
  readonly type?: string | undefined;
  readonly filename?: string | undefined;
  /** Whether a text has parts that no model is shown: an image that holds one is not shown. */
  readonly hasSecret: (text: string) => boolean;
}

/** Safe to repeat: the same file of the same user is one artifact. @throws Failure TooLarge, Unprocessable */
export async function putArtifact(pool: Pool, tenant: string, given: NewArtifact): Promise<ArtifactRow> {
  const { bytes, user } = given;
  if (bytes.length === 0) throw new Failure('Unprocessable', 'The file is empty');
  if (bytes.length > ARTIFACT_BYTES)
    throw new Failure('TooLarge', `A file may have at most ${ARTIFACT_BYTES} bytes here`);
  const type = await detectType(bytes, given.type);
  if (type === undefined)
    throw new Failure(
      'Unprocessable',
      `The file is not what its content type says (${given.type?.slice(0, 100)}); send what it is, or application/octet-stream`,
    );
  const filename = plainFilename(given.filename);
  const digest = sha256(bytes);
  const id = `art_${sha256(JSON.stringify([tenant, user, filename, digest])).slice(0, 32)}`;
  const kept = await readRow<{ bytes: string }>(pool)`
    select coalesce(sum(size), 0) as bytes from artifacts where tenant_id = ${tenant} and id <> ${id}`;
  if (Number(kept?.bytes) + bytes.length > ARTIFACTS_BYTES)
    throw new Failure(
      'TooLarge',
      `All artifacts together would have more than ${ARTIFACTS_BYTES} bytes; artifacts_days of the retention removes old ones`,
    );
  const facts = readImage(bytes);
  const isShown =
    imageProblem(facts, bytes.length) === undefined && !given.hasSecret(bytes.toString('latin1'));
  const shown = isShown ? facts : undefined;
  const row = await readRow<ArtifactRow>(pool)`
    with kept as (insert into files (tenant_id, digest, bytes) values (${tenant}, ${digest}, ${bytes})
      on conflict (tenant_id, digest) do update set needed_at = now())
    insert into artifacts (tenant_id, id, user_id, type, filename, digest, size, width, height)
    values (${tenant}, ${id}, ${user}, ${type}, ${filename}, ${digest}, ${bytes.length},
      ${shown?.width ?? null}, ${shown?.height ?? null})
    on conflict (tenant_id, id) do update set created_at = now(), type = excluded.type
    returning id, user_id, type, filename, digest, size, width, height, created_at`;
  if (!row) throw new Error(`artifact ${id} was not written`);
  return row;
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Those among the ids that the user may read: his own and the tenant's. Undefined stands for whoever may read all. */
export function findArtifacts(
  pool: Pool,
  tenant: string,
  ids: readonly string[],
  user: string | null | undefined,
): Promise<ArtifactRow[]> {
  return readRows<ArtifactRow>(pool)`
    select id, user_id, type, filename, digest, size, width, height, created_at from artifacts
     where tenant_id = ${tenant} and id = any (${[...ids]})
       and (${user === undefined} or user_id is null or user_id = ${user ?? null})`;
}

/** Bytes `from` up to `end`, which does not count, in pieces; ends early when they are removed meanwhile. */
export async function* readArtifact(
  pool: Pool,
  tenant: string,
  digest: string,
  from: number,
  end: number,
): AsyncGenerator<Buffer> {
  for (let at = from; at < end; at += PIECE) {
    const length = Math.min(PIECE, end - at);
    const row = await readRow<{ piece: Buffer }>(pool)`
      select substring(bytes from ${at + 1}::int for ${length}::int) as piece from files
       where tenant_id = ${tenant} and digest = ${digest}`;
    if (!row) return;
    yield row.piece;
  }
}

/** What a process holds of one at a time. */
const PIECE = 4 * 1024 * 1024;
