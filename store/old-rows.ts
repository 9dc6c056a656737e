/** Rows that are kept for a limited time, and deletion of rows in bounded batches. */
import { type RawBuilder, sql } from 'kysely';
import { KEPT_HOURS } from './idempotency-store.ts';
import type { Db } from './postgres/database.ts';
import { execute, readRows } from './postgres/statements.ts';
import { removeInTurn } from './remove-in-turn.ts';

/** Rows that one transaction deletes. */
const BATCH = 5_000;

/** Condition on the rows of a table that are no longer kept. */
export interface OldRows {
  readonly table: string;
  readonly isOld: RawBuilder<unknown>;
}

/** The core's tables. */
export const OLD_ROWS = {
  idempotency: { table: 'idempotency_keys', isOld: isOlder('created_at', KEPT_HOURS / 24) },
  egress: { table: 'egress_requests', isOld: isOlder('created_at', 30) },
} as const satisfies Record<string, OldRows>;

/** Deletes them, each kind in turn. Returns the number deleted; the next sweep continues. */
export function pruneOldRows(db: Db, all: readonly OldRows[]): Promise<number> {
  return removeInTurn(
    all.map(({ table, isOld }) => ({ batch: BATCH, remove: (max) => deleteSome(db, table, isOld, max) })),
  );
}

export function isOlder(column: string, days: number): RawBuilder<unknown> {
  return sql`${sql.ref(column)} < now() - make_interval(days => ${days})`;
}

/** Deletes at most `max` of the matching rows; returns the number deleted. */
export async function deleteSome(
  db: Db,
  table: string,
  where: RawBuilder<unknown>,
  max: number,
): Promise<number> {
  let deleted = 0;
  for (const part of await partsOf(db, table)) {
    if (deleted >= max) break;
    const name = sql.table(part);
    deleted += await execute(db)`
      delete from ${name} where ctid = any (array(select ctid from ${name} where ${where} limit ${max - deleted}))`;
  }
  return deleted;
}

/** A `ctid` names a row of one partition. The oldest come first. */
async function partsOf(db: Db, table: string): Promise<readonly string[]> {
  if (table !== 'events') return [table];
  const parts = await readRows<{ name: string }>(db)`
    select 'event_months.' || c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'events'::regclass order by 1`;
  return parts.map(({ name }) => name);
}
