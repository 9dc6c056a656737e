/** What was said in a session, with the calls of each answer. */
import { readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export interface Spoken {
  readonly id: string;
  readonly turn_id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly calls: readonly SpokenCall[] | null;
}

export interface SpokenCall {
  readonly id: string;
  readonly tool: string;
  /** As people may see them. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly ok: boolean | null;
  readonly code: string | null;
  /** The beginning. */
  readonly result: string | null;
}

/** Characters of a result. */
const MAX_RESULT = 16_384;

/** The last ones, oldest first. */
export function listSpoken(db: TenantDb, session: string, limit: number): Promise<Spoken[]> {
  return readRows<Spoken>(db)`
    select id, turn_id, role, text, calls from (
      select m.id, m.turn_id, m.role, m.text, m.position,
        (select jsonb_agg(jsonb_build_object('id', c.id, 'tool', c.tool, 'args', c.args, 'state', c.state, 'ok', c.ok,
            'code', c.code, 'result', left(c.result, ${MAX_RESULT}::int)) order by c.index)
          from tool_calls c where c.tenant_id = m.tenant_id and c.turn_id = m.turn_id and c.step = m.step
            and m.role = 'assistant') as calls
      from messages m where m.tenant_id = ${db} and m.session_key = ${session} and m.position is not null
      order by m.position desc limit ${limit}) last
    order by position`;
}
