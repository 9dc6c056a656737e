/** Rows that are kept for a time only, and how rows go in bounded batches. */
import { type RawBuilder, sql } from 'kysely';
import { KEPT_HOURS } from './idempotency-store.ts';
import type { Db } from './database.ts';
import { execute } from './statements.ts';

/** Of a table in one sweep, so that turns beside it wait for none of it. */
const MAX = 20_000;

/** Rows of a table that are not kept any longer. */
export interface OldRows {
  readonly table: string;
  readonly isOld: RawBuilder<unknown>;
}

/** Of the core. */
export const OLD_ROWS = {
  idempotency: { table: 'idempotency_keys', isOld: isOlder('created_at', KEPT_HOURS / 24) },
  egress: { table: 'egress_requests', isOld: isOlder('created_at', 30) },
} as const satisfies Record<string, OldRows>;

/** Returns how many went; the next sweep goes on. */
export function pruneOldRows(db: Db, { table, isOld }: OldRows): Promise<number> {
  return deleteSome(db, table, isOld, MAX);
}

export function isOlder(column: string, days: number): RawBuilder<unknown> {
  return sql`${sql.ref(column)} < now() - make_interval(days => ${days})`;
}

/** At most `most` of the rows that are meant; returns how many went. */
export function deleteSome(db: Db, table: string, where: RawBuilder<unknown>, max: number): Promise<number> {
  const name = sql.table(table);
  return execute(db)`
    delete from ${name} where ctid = any (array(select ctid from ${name} where ${where} limit ${max}))`;
}
