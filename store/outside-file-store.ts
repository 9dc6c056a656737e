/** Files of workspaces that were written after something from outside was read (PO-5). */
import { OUTSIDE_FILE, type UsedTools } from '#domain/policy/used-tools.ts';
import type { Pool } from './pool.ts';
import { execute, readRow } from './statements.ts';

/** A file, or the folder of several; the empty path is the whole workspace. */
export interface FilePlace {
  readonly tenant: string;
  /** Names of the folder and of the one that it began as a copy of. */
  readonly workspaces: readonly string[];
  readonly path: string;
}

/** Paths of a workspace that are told apart; with more it counts as a whole. */
const MOST_PATHS = 2_000;

/** What was read before the files at a place were written: {} for none. */
export async function filesRead(pool: Pool, { tenant, workspaces, path }: FilePlace): Promise<UsedTools> {
  const row = await readRow<{ read: UsedTools }>(pool)`
    select coalesce(jsonb_object_agg(r.key, r.value), '{}') as read from outside_files f, jsonb_each(f.read) r
    where f.tenant_id = ${tenant} and f.workspace = any (${[...workspaces]}::text[])
      and (f.path in ('', ${path}) or ${path} = '' or starts_with(f.path, ${`${path}/`}))`;
  return row?.read ?? {};
}

/** Before the file is written. Safe to repeat. */
export async function noteOutsideFile(
  pool: Pool,
  { tenant, workspaces: [workspace], path }: FilePlace,
  read: UsedTools,
): Promise<void> {
  const kept = JSON.stringify({ ...read, [OUTSIDE_FILE]: path === '' ? 'a command' : path });
  await execute(pool)`
    insert into outside_files as f (tenant_id, workspace, path, read)
    select ${tenant}, ${workspace}, case when count(*) < ${MOST_PATHS} then ${path} else '' end, ${kept}::jsonb
      from outside_files where tenant_id = ${tenant} and workspace = ${workspace}
    on conflict (tenant_id, workspace, path) do update set read = excluded.read || f.read`;
}

/** All of the file was written anew by who had read nothing from outside. */
export async function forgetOutsideFile(
  pool: Pool,
  { tenant, workspaces: [workspace], path }: FilePlace,
): Promise<void> {
  await execute(pool)`
    delete from outside_files where tenant_id = ${tenant} and workspace = ${workspace} and path = ${path}`;
}
