/** Files of workspaces that were written after something from outside was read (PO-5). */
import { OUTSIDE_FILE, type UsedTools } from '#domain/policy/used-tools.ts';
import type { Pool } from '../postgres/pool.ts';
import type { Db } from '../postgres/database.ts';
import { execute, readRow } from '../postgres/statements.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface MarkedWorkspace {
  readonly tenant: string;
  /** Names of the folder and of the folder that it was copied from. */
  readonly workspaces: readonly string[];
}

/** A file, or a folder of several; the empty path is the whole workspace. */
export interface FilePlace extends MarkedWorkspace {
  readonly path: string;
}

/** Number of paths that are recorded separately for a workspace; beyond it the whole workspace counts. */
const MAX_PATHS = 2_000;

/** What was read from outside before the files at a place were written; {} for none. */
export async function filesRead(pool: Pool, { tenant, workspaces, path }: FilePlace): Promise<UsedTools> {
  const row = await readRow<{ read: UsedTools }>(pool)`
    select coalesce(jsonb_object_agg(r.key, r.value), '{}') as read from outside_files f, jsonb_each(f.read) r
    where f.tenant_id = ${tenant} and f.workspace = any (${[...workspaces]}::text[])
      and (f.path in ('', ${path}) or ${path} = '' or starts_with(f.path, '/') or starts_with(f.path, ${`${path}/`})
        or starts_with(${path}, f.path || '/'))`;
  return row?.read ?? {};
}

/** Called before the files are written. Safe to repeat. The paths are distinct. */
export async function noteOutsideFiles(
  pool: Db,
  { tenant, workspaces: [workspace] }: MarkedWorkspace,
  paths: readonly string[],
  read: UsedTools,
): Promise<void> {
  await execute(pool)`
    insert into outside_files as f (tenant_id, workspace, path, read)
    select ${tenant}, ${workspace}, p, ${JSON.stringify(read)}::jsonb
        || jsonb_build_object(${OUTSIDE_FILE}::text, case when p = '' or starts_with(p, '/') then 'a command' else p end)
      from (select count(*) as n from outside_files where tenant_id = ${tenant} and workspace = ${workspace}) known,
        unnest(case when n + ${paths.length} <= ${MAX_PATHS} then ${[...paths]}::text[] else array[''] end) p
    on conflict (tenant_id, workspace, path) do update set read = excluded.read || f.read`;
}

/** Records a running command, which may write anything until it has ended: until then the whole workspace counts. */
export function noteCommand(
  pool: Pool,
  workspace: MarkedWorkspace,
  call: string,
  read: UsedTools,
): Promise<void> {
  return noteOutsideFiles(pool, workspace, [pathOf(call)], read);
}

/** Records that the command has ended and has changed these files. */
export async function endCommand(
  pool: Pool,
  place: MarkedWorkspace,
  call: string,
  changed: readonly string[],
  read: UsedTools,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    if (changed.length > 0) await noteOutsideFiles(tx, place, changed, read);
    await forgetPath(tx, place, pathOf(call));
  });
}

/** No path of a workspace starts with a slash. */
function pathOf(call: string): string {
  return `/${call}`;
}

/** The whole file was written again by a session that had read nothing from outside. */
export function forgetOutsideFile(pool: Pool, { path, ...workspace }: FilePlace): Promise<void> {
  return forgetPath(pool, workspace, path);
}

async function forgetPath(
  pool: Db,
  { tenant, workspaces: [workspace] }: MarkedWorkspace,
  path: string,
): Promise<void> {
  await execute(pool)`
    delete from outside_files where tenant_id = ${tenant} and workspace = ${workspace} and path = ${path}`;
}
