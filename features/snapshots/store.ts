/** Workspaces that follow the work (VF-6): which revision is the newest, and which worker may make the next one. */
import type { Pool } from '#store/postgres/pool.ts';
import type { Db } from '#store/postgres/database.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { IS_THAWED } from '#store/tenant-freeze.ts';

export interface WorkspaceKey {
  readonly tenant: string;
  readonly name: string;
}

/** The lease of a workspace's holder. The fence identifies the lease, and refuses earlier holders. */
export interface WorkspaceLease {
  readonly fence: number;
  /** Digest of the newest revision's root; null when there is none yet. */
  readonly root: string | null;
}

/**
 * After this, by the clock of Postgres, another worker takes over from one that died; a holder renews three times as
 * often.
 */
const LEASE = '6 seconds';
export const RENEW_MS = 2_000;
/** Revisions that are kept, including the newest. */
const KEPT = 5;
/** Objects that nothing names are searched for after this many further revisions. */
const CLEAN_EVERY = 50;

/**
 * Returns undefined while another worker holds it. Not safe to repeat: after a lost answer, it is held for the time of
 * the lease.
 */
export function takeWorkspace(
  pool: Pool,
  { tenant, name }: WorkspaceKey,
  holder: string,
): Promise<WorkspaceLease | undefined> {
  return readRow<WorkspaceLease>(pool)`
    insert into workspaces as w (tenant_id, name, holder, held_until, fence)
    values (${tenant}, ${name}, ${holder}, clock_timestamp() + ${LEASE}::interval, extract(epoch from clock_timestamp()) * 1000000)
    on conflict (tenant_id, name) do update set holder = excluded.holder, held_until = excluded.held_until, fence = w.fence + 1
      where w.held_until is null or w.held_until < clock_timestamp()
    returning fence::float8, roots[1] as root`;
}

/** Returns false when another worker has it by now. */
export function renewWorkspace(pool: Pool, { tenant, name }: WorkspaceKey, fence: number): Promise<boolean> {
  return affects(pool)`
    update workspaces set held_until = clock_timestamp() + ${LEASE}::interval
    where tenant_id = ${tenant} and name = ${name} and fence = ${fence} and held_until is not null`;
}

/**
 * Stores the next revision, and with `release` also releases the lease. Returns false when another worker has it by
 * now. Safe to repeat.
 */
export function saveWorkspace(
  pool: Pool,
  { tenant, name }: WorkspaceKey,
  { fence, root, release }: { readonly fence: number; readonly root: string; readonly release: boolean },
): Promise<boolean> {
  return affects(pool)`
    update workspaces set revision = revision + (roots[1] is distinct from ${root})::int,
      roots = case when roots[1] = ${root} then roots else (array_prepend(${root}, roots))[1:${KEPT}] end,
      held_until = case when ${release}::boolean then null else clock_timestamp() + ${LEASE}::interval end
    where tenant_id = ${tenant} and name = ${name} and fence = ${fence}`;
}

/** Safe to repeat. */
export function releaseWorkspace(
  pool: Pool,
  { tenant, name }: WorkspaceKey,
  fence: number,
): Promise<boolean> {
  return affects(pool)`
    update workspaces set held_until = null where tenant_id = ${tenant} and name = ${name} and fence = ${fence}`;
}

/** Who has it, for people. */
export async function workspaceHolder(
  pool: Pool,
  { tenant, name }: WorkspaceKey,
): Promise<string | undefined> {
  const row = await readRow<{ holder: string }>(pool)`
    select holder from workspaces where tenant_id = ${tenant} and name = ${name} and held_until > clock_timestamp()`;
  return row?.holder;
}

/** Workspaces that nobody holds and that may have objects which nothing names. */
export function workspacesToClean(pool: Pool, max: number): Promise<WorkspaceKey[]> {
  return readRows<WorkspaceKey>(pool)`
    select tenant_id as tenant, name from workspaces
    where revision >= cleaned + ${CLEAN_EVERY} and ${IS_THAWED} and (held_until is null or held_until < clock_timestamp())
    order by revision - cleaned desc limit ${max}`;
}

/** Workspaces whose names end with the suffix, from the first dot on. */
export function listWorkspaces(db: TenantDb, suffix: string): Promise<WorkspaceKey[]> {
  return readRows<WorkspaceKey>(db)`
    select tenant_id as tenant, name from workspaces
    where tenant_id = ${db} and substr(name, strpos(name, '.')) = ${suffix} order by name`;
}

/** For its holder; returns false when another worker holds it by now. */
export function deleteWorkspace(db: Db, { tenant, name }: WorkspaceKey, fence: number): Promise<boolean> {
  return affects(db)`
    delete from workspaces where tenant_id = ${tenant} and name = ${name} and fence = ${fence} and held_until is not null`;
}

/** Roots of the kept revisions, the newest first. */
export async function workspaceRoots(pool: Pool, { tenant, name }: WorkspaceKey): Promise<readonly string[]> {
  const row = await readRow<{ roots: readonly string[] }>(pool)`
    select roots from workspaces where tenant_id = ${tenant} and name = ${name}`;
  return row?.roots ?? [];
}

/** For its holder: no unnamed objects are left. */
export function noteCleaned(pool: Pool, { tenant, name }: WorkspaceKey, fence: number): Promise<boolean> {
  return affects(pool)`
    update workspaces set cleaned = revision where tenant_id = ${tenant} and name = ${name} and fence = ${fence}`;
}
