/** Statements as they are written, with their values in place: on any connection, or as part of a transaction. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { type Db, databaseOf } from './database.ts';
import type { Tables } from '../tables.ts';
import type { TenantDb } from './tenant-db.ts';

/** That of a tenant refuses a statement that does not name the tenant. */
type Connection = Db | TenantDb<Db>;

/** A value becomes a parameter (null when undefined); a fragment made by `sql` becomes part of the text. */
type Statement<Result> = (text: TemplateStringsArray, ...values: readonly unknown[]) => Promise<Result>;

/** A table's row as it is read, without its tenant and the omitted columns. bigint and numeric are text. */
export type RowOf<Table extends keyof Tables, Without extends keyof Tables[Table] = never> = Readonly<
  Omit<Selectable<Tables[Table]>, 'tenant_id' | Without>
>;

export function readRows<Row>(db: Connection): Statement<Row[]> {
  return async (text, ...values) =>
    (await sql<Row>(text, ...values).execute('unbound' in db ? db : databaseOf(db))).rows;
}

export function readRow<Row>(db: Connection): Statement<Row | undefined> {
  return async (text, ...values) => (await readRows<Row>(db)(text, ...values))[0];
}

/** Returns how many rows were changed or found. */
export function execute(db: Connection): Statement<number> {
  return async (text, ...values) => {
    const { numAffectedRows, rows } = await sql(text, ...values).execute(
      'unbound' in db ? db : databaseOf(db),
    );
    return Number(numAffectedRows ?? rows.length);
  };
}

/** Returns whether any row was changed or found. */
export function affects(db: Connection): Statement<boolean> {
  return async (text, ...values) => (await execute(db)(text, ...values)) > 0;
}

/** The last row of the previous page: its time with all its digits, as Postgres writes it, and its id. */
export type PageEnd = readonly [time: string, id: string];

/** A condition for rows by time, newest first, and by id: those after the last one of the previous page. */
export function below(time: string, id: string, after: PageEnd | undefined): RawBuilder<unknown> {
  if (!after) return sql``;
  const [at, key] = [sql.ref(time), sql.ref(id)];
  return sql`and (${at} < ${after[0]}::timestamptz or (${at} = ${after[0]}::timestamptz and ${key} > ${after[1]}))`;
}
