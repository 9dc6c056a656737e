/** What models were used for without an answer in a transcript (DU-7). */
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { Db } from '../postgres/database.ts';
import { execute } from '../postgres/statements.ts';

/** For an agent without a session. */
export async function noteUses(
  db: Db,
  { tenant, agent }: { readonly tenant: string; readonly agent: string },
  uses: readonly ModelUse[],
): Promise<void> {
  const noted = JSON.stringify(uses.map((use) => ({ ...use, agent })));
  if (uses.length > 0) await execute(db)`select note_model_uses(${tenant}, '', '', ${noted})`;
}
