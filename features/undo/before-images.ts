/**
 * What calls have replaced in files: kept sealed before the file changes, so that a crash in between loses nothing, and
 * read by the tool that puts it back.
 */
import { fileDigest } from '#activities/workspace/change-journal.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRow } from '#store/postgres/statements.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';

/** Larger old content is not kept, and such a call cannot be reversed. */
export const MAX_KEPT_BYTES = 1_000_000;

export interface BeforeImage {
  /** Null when there was no file. */
  readonly content: Buffer | null;
  /** Digest of what the call wrote. */
  readonly after: string;
}

interface Deps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly files: Pick<Files, 'readBytes'>;
}

/** The `place` of the sealed content (RowPart.sealedRows). */
export const IMAGE_PLACE = `tenant_id || '/before_images/' || call_id || '/' || path`;

export function createKeepBefore({ pool, sealer, files }: Deps): NonNullable<ToolDeps['keepBefore']> {
  return async (call, path, after) => {
    const old = await oldContent(files, call, path);
    if (old === undefined) return;
    const { tenant, callId, sessionKey } = call;
    const sealed = old && sealer.seal(old.toString('base64'), placeOf(tenant, callId, path));
    // The first attempt counts: a later one may find what that has written.
    await execute(forTenant(pool, tenant))`
      insert into before_images (tenant_id, call_id, session_key, path, sealed, key_id, after)
      values (${tenant}, ${callId}, ${sessionKey}, ${path}, ${sealed}, ${sealed && sealer.keyId}, ${fileDigest(after(old))})
      on conflict do nothing`;
  };
}

/** Of a call of the same session; undefined when nothing was kept. */
export async function readBefore(
  { pool, sealer }: Pick<Deps, 'pool' | 'sealer'>,
  { tenant, sessionKey }: Pick<RunningCall, 'tenant' | 'sessionKey'>,
  call: string,
  path: string,
): Promise<BeforeImage | undefined> {
  const db = forTenant(pool, tenant);
  const row = await readRow<{ sealed: string | null; after: string }>(db)`
    select sealed, after from before_images
    where tenant_id = ${db} and call_id = ${call} and path = ${path} and session_key = ${sessionKey}`;
  if (!row) return undefined;
  const content = row.sealed && Buffer.from(sealer.open(row.sealed, placeOf(tenant, call, path)), 'base64');
  return { content: content === '' ? null : content, after: row.after };
}

function placeOf(tenant: string, call: string, path: string): string {
  return `${tenant}/before_images/${call}/${path}`;
}

/** Null when there is no file; undefined when it is too large, or cannot be read. */
async function oldContent(
  files: Deps['files'],
  call: RunningCall,
  path: string,
): Promise<Buffer | null | undefined> {
  try {
    return await files.readBytes(call, path, MAX_KEPT_BYTES);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return error.code === 'FileNotFound' ? null : undefined;
  }
}
