/** Which calls reverse the calls of a turn: read, and claimed, under the lock of the session. */
import type { TurnRow } from '#store/turns/turn-store.ts';
import { callIdOf, turnIdOf } from '#domain/ids.ts';
import { affects, execute, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { lockSession } from '#store/turns/session-writes.ts';
import type { CallToUndo, Reversal } from './plan.ts';

/** `sealed`: the arguments themselves, when people may not see all of them. */
export interface UndoRow extends Omit<CallToUndo, 'reversal'> {
  readonly sealed: string | null;
  readonly undo_turn: string | null;
  readonly undo_call: string | null;
  /** Of the call that reverses it; null when it is not there. */
  readonly undo_state: string | null;
  readonly undo_ok: boolean | null;
  readonly undo_code: string | null;
  /** Of the turn that reverses it; null when it is not there. */
  readonly undo_status: string | null;
}

/** More calls than an undo looks at. */
const MAX_CALLS = 5_000;
const ENDED = ['completed', 'failed', 'stopped'];

export function readCallsToUndo(db: TenantDb | TenantTx, turn: string): Promise<UndoRow[]> {
  return readRows<UndoRow>(db)`
    select c.id, c.tool, c.args, translate(encode(c.args_sealed, 'base64'), E'\\n', '') as sealed, c.ok, c.code, c.result, c.started_at is not null as "hasRun", c.child,
      u.undo_turn_id as undo_turn, u.undo_call_id as undo_call, uc.state as undo_state, uc.ok as undo_ok, uc.code as undo_code,
      exists (select from before_images b where b.tenant_id = c.tenant_id and b.call_id = c.id) as "isKept",
      ut.status as undo_status
     from tool_calls c
     left join undone_calls u on u.tenant_id = c.tenant_id and u.call_id = c.id
     left join tool_calls uc on uc.tenant_id = u.tenant_id and uc.id = u.undo_call_id
     left join turns ut on ut.tenant_id = u.tenant_id and ut.id = u.undo_turn_id
     where c.tenant_id = ${db} and c.turn_id = ${turn}
     order by c.step, c.index limit ${MAX_CALLS}`;
}

export function reversalOf(row: UndoRow): Reversal | null {
  const { undo_turn: turn, undo_call: call, undo_state, undo_ok, undo_code, undo_status } = row;
  if (turn === null || call === null) return null;
  const at = (status: Reversal['status']): Reversal => ({ turn, call, status });
  if (undo_status === null) return at('absent');
  if (undo_state === 'done')
    return at(undo_ok ? 'reversed' : undo_code === 'OutcomeUnknown' ? 'unknown' : 'failed');
  return at(ENDED.includes(undo_status) ? 'failed' : 'running');
}

/** The n-th of `calls` will be reversed by the n-th call of the message's turn. */
export interface UndoClaim {
  readonly message: string;
  readonly calls: readonly string[];
}

/**
 * Claims what `choose` chooses, in one commit: of two requests at once, the second sees the claims of the first.
 */
export function claimUndo<Chosen extends UndoClaim>(
  db: TenantDb,
  { id, session_key }: Pick<TurnRow, 'id' | 'session_key'>,
  choose: (rows: readonly UndoRow[]) => Chosen,
): Promise<Chosen> {
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session_key);
    const chosen = choose(await readCallsToUndo(tx, id));
    const undo_turn_id = turnIdOf(chosen.message);
    for (const [index, call_id] of chosen.calls.entries()) {
      const undo_call_id = callIdOf(undo_turn_id, 1, index);
      await execute(tx)`
        insert into undone_calls (tenant_id, call_id, session_key, undo_turn_id, undo_call_id)
        values (${tx}, ${call_id}, ${session_key}, ${undo_turn_id}, ${undo_call_id})
        on conflict (tenant_id, call_id) do update set undo_turn_id = excluded.undo_turn_id, undo_call_id = excluded.undo_call_id`;
    }
    return chosen;
  });
}

/** Whether the call is the one that reverses the other. */
export function isClaimed(db: TenantDb, call: string, by: string): Promise<boolean> {
  return affects(db)`
    select from undone_calls where tenant_id = ${db} and call_id = ${call} and undo_call_id = ${by}`;
}
