/** Rounds of making and judging, in the rows of their assignments. */
import type { Kept } from '#domain/schema/scalars.ts';
import type { Db } from '#store/postgres/database.ts';
import { execute, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { evaluationDetailSchema } from './schema.ts';

export type RoundRow = Kept<typeof evaluationDetailSchema>['rounds'][number];

export async function findRounds(db: TenantDb<Db>, id: string): Promise<readonly RoundRow[]> {
  const rows = await readRows<{ rounds: readonly RoundRow[] }>(db)`
    select rounds from assignments where tenant_id = ${db} and id = ${id}`;
  return rows[0]?.rounds ?? [];
}

/** Records what is known about a round; the first draft and the first verdict stay. Safe to repeat. */
export async function recordRound(db: TenantDb, id: string, round: RoundRow): Promise<void> {
  const [text, number] = [JSON.stringify(round), round.round];
  await execute(db)`
    update assignments set rounds = case
        when jsonb_array_length(rounds) < ${number}::int then rounds || jsonb_build_array(${text}::jsonb)
        when rounds #>> array[(${number}::int - 1)::text, 'verdict'] is null
          then jsonb_set(rounds, array[(${number}::int - 1)::text],
            ${text}::jsonb || jsonb_build_object('draft', rounds #> array[(${number}::int - 1)::text, 'draft']))
        else rounds end
    where tenant_id = ${db} and id = ${id}`;
}
