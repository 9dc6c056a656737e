/**
 * What calls have replaced in files: kept sealed before the file changes, so that a crash in between loses nothing, and
 * read by the tool that puts it back.
 */
import { basename } from 'node:path';
import { fileDigest } from '#activities/workspace/change-journal.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { NO_ORIGINS } from '#domain/files/file-origins.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { filesRead } from '#store/files/outside-file-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';

/** Larger old content is not kept, and such a call cannot be reversed. */
export const MAX_KEPT_BYTES = 1_000_000;

export interface BeforeImage {
  /** Null when there was no file. */
  readonly content: Buffer | null;
  /** What was read from outside before that was written (PO-5). */
  readonly read: UsedTools;
  /** Digest of what the call wrote. */
  readonly after: string;
}

interface Deps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly files: Pick<Files, 'readBytes'>;
}

/** Bytes that are kept of one session, sealed; after that, nothing more is kept until the oldest are gone. */
const MAX_KEPT_OF_SESSION = 100_000_000;

/** The `place` of the sealed content (RowPart.sealedRows). */
export const IMAGE_PLACE = `tenant_id || '/before_images/' || call_id || '/' || path`;

export function createKeepBefore({ pool, sealer, files }: Deps): NonNullable<ToolDeps['keepBefore']> {
  return async (call, path, after) => {
    const { old, read } = await oldContent({ pool, files }, call, path);
    const next = old === undefined ? undefined : after(old);
    if (old === undefined || next === undefined) return;
    const { tenant, callId, sessionKey } = call;
    const sealed = old && sealer.seal(old.toString('base64'), placeOf(tenant, callId, path));
    // The first attempt counts: a later one may find what that has written.
    await execute(forTenant(pool, tenant))`
      insert into before_images (tenant_id, call_id, session_key, path, sealed, key_id, read, after)
      select ${tenant}, ${callId}, ${sessionKey}, ${path}, ${sealed}, ${sealed && sealer.keyId},
        ${JSON.stringify(read)}::jsonb, ${fileDigest(next)}
      where (select coalesce(sum(octet_length(sealed)), 0) from before_images
        where tenant_id = ${tenant} and session_key = ${sessionKey}) < ${MAX_KEPT_OF_SESSION}::bigint
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
  const row = await readRow<ImageRow>(db)`
    select sealed, read, after from before_images
    where tenant_id = ${db} and call_id = ${call} and path = ${path} and session_key = ${sessionKey}`;
  if (!row) return undefined;
  return { ...row, content: openImage(sealer, row, placeOf(tenant, call, path)) };
}

type ImageRow = Pick<BeforeImage, 'read' | 'after'> & { readonly sealed: string | null };

function openImage(sealer: Sealer, { sealed }: Pick<ImageRow, 'sealed'>, place: string): Buffer | null {
  return sealed === null ? null : Buffer.from(sealer.open(sealed, place), 'base64');
}

/** A file that a call has written, and whose old content is kept. */
export interface KeptFile {
  readonly call: string;
  readonly path: string;
}

/** The files of these calls, in no order. */
export function listKeptFiles(db: TenantDb, calls: readonly string[]): Promise<KeptFile[]> {
  return readRows<KeptFile>(db)`
    select call_id as call, path from before_images where tenant_id = ${db} and call_id = any(${[...calls]}::text[])`;
}

/** What the file had before the call: null when there was none, undefined when nothing is kept any more. */
export async function readKeptFile(
  db: TenantDb,
  sealer: Sealer,
  { call, path }: KeptFile,
): Promise<Buffer | null | undefined> {
  const row = await readRow<ImageRow>(db)`
    select sealed, read, after from before_images
    where tenant_id = ${db} and call_id = ${call} and path = ${path}`;
  return row && openImage(sealer, row, placeOf(db.tenant, call, path));
}

function placeOf(tenant: string, call: string, path: string): string {
  return `${tenant}/before_images/${call}/${path}`;
}

/**
 * `old` is null when there is no file, and undefined when it is too large or cannot be read. The call itself has not read
 * it: what it writes does not depend on it.
 */
async function oldContent(
  { pool, files }: Pick<Deps, 'pool' | 'files'>,
  call: RunningCall,
  path: string,
): Promise<{ readonly old: Buffer | null | undefined; readonly read: UsedTools }> {
  let read: UsedTools = {};
  const add = (more: UsedTools): void => void (read = { ...read, ...more });
  const folders = [call.workspace, ...(call.workspaceFrom === undefined ? [] : [call.workspaceFrom])];
  const place = { tenant: call.tenant, workspaces: folders.map((folder) => basename(folder)) };
  const origins = {
    ...NO_ORIGINS,
    readDocument: add,
    read: async (inside: string) => add(await filesRead(pool, { ...place, path: inside })),
  };
  try {
    return { old: await files.readBytes({ ...call, origins }, path, MAX_KEPT_BYTES), read };
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return { old: error.code === 'FileNotFound' ? null : undefined, read };
  }
}
