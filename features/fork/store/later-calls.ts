/** The calls of a session after the place of a fork: what they did to files is put back in its copy, if that is kept. */
import type { ToolErrorCode } from '#domain/errors.ts';
import { readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { ForkPlace } from './find-point.ts';

export interface LaterCall {
  readonly id: string;
  /** The call that ran: of which this one is a copy, or itself. */
  readonly ran: string;
  readonly tool: string;
  readonly summary: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** More calls than a fork looks at; files that later ones have written are put back in any case. */
const MAX_CALLS = 10_000;

/** Codes of a call that was refused before it changed anything. */
const REFUSED: readonly ToolErrorCode[] = ['InvalidArgs', 'InvalidPath', 'FileNotFound', 'PermissionDenied'];

/** Those that have run or run now, and were not refused; the oldest first. */
export function laterCalls(db: TenantDb, { session, position }: ForkPlace): Promise<LaterCall[]> {
  return readRows<LaterCall>(db)`
    select c.id, coalesce(c.copied_of, c.id) as ran, c.tool, c.summary, c.args
    from tool_calls c left join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step
      and m.role = 'assistant'
    where c.tenant_id = ${db} and c.session_key = ${session} and coalesce(m.position, ${position}) >= ${position}
      and (c.started_at is not null or c.copied_of is not null and c.ok)
      and not (coalesce(not c.ok, false) and coalesce(c.code = any (${REFUSED}::text[]), false))
    order by m.position nulls last, c.index limit ${MAX_CALLS}`;
}
