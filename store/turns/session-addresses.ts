/** Sources of the addresses that a session may request again: texts of its user, and calls that have run (PO-5). */
import { sql } from 'kysely';
import { readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

/** How many of the newest texts are read. */
const TEXTS = 200;
const CALLS = 500;
/** Greatest size of a call's arguments that are searched for addresses; larger ones are text. */
const ARGUMENT_BYTES = 20_000;

export interface AddressSources {
  readonly texts: readonly string[];
  readonly calls: readonly { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }[];
}

/** Sources of the session, and of those that it works for: what this user said and requested there. */
export async function readAddressSources(
  db: TenantDb,
  session: string,
  user: string | null,
): Promise<AddressSources> {
  const chain = sql`with recursive chain (key) as (
    select ${session}::text union select giver_of(${db}, chain.key) from chain where chain.key is not null)`;
  const [texts, calls] = await Promise.all([
    readRows<{ text: string }>(db)`${chain}
      select m.text from messages m where m.tenant_id = ${db} and m.session_key in (select key from chain) and m.is_own
        and m.context ->> 'user' is not distinct from ${user}::text
      order by m.created_at desc limit ${TEXTS}`,
    readRows<AddressSources['calls'][number]>(db)`${chain}
      select c.tool, c.args from tool_calls c
      join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id and t.context ->> 'user' is not distinct from ${user}::text
      where c.tenant_id = ${db} and c.session_key in (select key from chain) and c.state = 'done' and c.ok
        and octet_length(c.args::text) < ${ARGUMENT_BYTES}
      order by c.created_at desc limit ${CALLS}`,
  ]);
  return { texts: texts.map(({ text }) => text), calls };
}
