/** Files that were written after something from outside was read (PO-5) are marked in a copy of their workspace too. */
import type { Pool } from '#store/postgres/pool.ts';
import { execute } from '#store/postgres/statements.ts';

/** Between names of folders. Safe to repeat. */
export async function copyMarks(pool: Pool, tenant: string, from: string, to: string): Promise<void> {
  await execute(pool)`
    insert into outside_files (tenant_id, workspace, path, read)
    select tenant_id, ${to}, case when starts_with(path, '/') then '' else path end, jsonb_object_agg(r.key, r.value)
    from outside_files f, jsonb_each(f.read) r where tenant_id = ${tenant} and workspace = ${from} group by 1, 3
    on conflict (tenant_id, workspace, path) do update set read = outside_files.read || excluded.read`;
}
