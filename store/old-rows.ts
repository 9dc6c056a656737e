/** Rows that are kept for a time only, and how rows go in bounded batches. */
import { type RawBuilder, sql } from 'kysely';
import { SCHEDULE_LIMITS } from '#features/schedules/contract/schedule.ts';
import { KEPT_HOURS } from './idempotency-store.ts';
import { type Db, execute } from './statements.ts';

/** Of a table in one sweep, so that turns beside it wait for none of it. */
const MOST = 20_000;

const IS_OLD = {
  idempotency_keys: isOlder('created_at', KEPT_HOURS / 24),
  egress_requests: isOlder('created_at', 30),
  // Codes that are good for nothing.
  channel_pairings: isOlder('created_at', 1),
  webhook_deliveries: sql`${isOlder('created_at', 30)} and ${isOlder('ended_at', 30)}`,
  schedule_runs: sql`state is not null and ${isOlder('created_at', SCHEDULE_LIMITS.runsDays)}`,
  node_invocations: isOlder('created_at', 7),
};

export const PRUNED_TABLES = Object.keys(IS_OLD) as readonly (keyof typeof IS_OLD)[];

/** Returns how many went; the next sweep goes on. */
export function pruneOldRows(db: Db, table: keyof typeof IS_OLD): Promise<number> {
  return deleteSome(db, table, IS_OLD[table], MOST);
}

export function isOlder(column: string, days: number): RawBuilder<unknown> {
  return sql`${sql.ref(column)} < now() - make_interval(days => ${days})`;
}

/** At most `most` of the rows that are meant; returns how many went. */
export function deleteSome(db: Db, table: string, where: RawBuilder<unknown>, most: number): Promise<number> {
  const name = sql.table(table);
  return execute(db)`
    delete from ${name} where ctid = any (array(select ctid from ${name} where ${where} limit ${most}))`;
}
