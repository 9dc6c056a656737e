/** Calls the SQL functions of `functions/`: one round trip, one row. */
import { sql } from 'kysely';
import { Failure } from '#domain/errors.ts';
import { MissingAnswer, type Pool } from './pool.ts';
import type { TenantTx } from './tenant-db.ts';

/** Parameter types of each, as the database has them (test/store/functions.test.ts). An object is passed as JSON. */
export const SQL_FUNCTIONS = {
  append_above: 'text,text,jsonb',
  append_batch: 'jsonb',
  append_events: 'text,text,text,jsonb',
  begin_step: 'text,text,text,integer,jsonb,jsonb,bigint,bigint,text,text,jsonb',
  budget_root_of: 'text,text,text',
  claim_call_2: 'text,text,text,boolean,boolean,integer,integer,jsonb',
  count_turn_holds: 'text,text',
  end_turn: 'text,text,text,integer,text,jsonb,text,jsonb,jsonb,jsonb,text,text,text',
  keep_event_months: 'integer',
  note_model_uses: 'text,text,text,jsonb',
  note_used: 'text,text,jsonb',
  record_answer: 'text,text,text,integer,jsonb,jsonb,jsonb,jsonb',
  record_reads: 'text,text,text,integer,jsonb,jsonb,jsonb,bigint,bigint,jsonb',
  record_result_2:
    'text,text,text,text,boolean,text,text,text,text,jsonb,jsonb,bigint,bigint,jsonb,jsonb,jsonb,jsonb',
  reserve_budget: 'text,text,text,text,jsonb,jsonb,text',
  settle_budget: 'text,text,integer,jsonb',
  settle_calls: 'text,text,text,jsonb',
} as const;

export type SqlFunction = keyof typeof SQL_FUNCTIONS;

interface TypeOf {
  readonly text: string;
  readonly jsonb: string;
  readonly integer: number;
  readonly bigint: number;
  readonly boolean: boolean;
}
type Split<Types extends string> = Types extends `${infer First},${infer Rest}`
  ? [First, ...Split<Rest>]
  : [Types];
type Values<Types> = { readonly [Place in keyof Types]: TypeOf[Types[Place] & keyof TypeOf] | null };
export type ArgumentsOf<Name extends SqlFunction> = Values<Split<(typeof SQL_FUNCTIONS)[Name]>>;

export type SqlCall = <Result, Name extends SqlFunction>(
  name: Name,
  values: ArgumentsOf<Name>,
) => Promise<Result>;

/**
 * Named statements are parsed once per connection. Each function's comment says whether a call may be repeated. @throws
 * Failure NotFound when a client has named a tenant that does not exist
 */
export function createSqlCall(pool: Pool): SqlCall {
  return async <Result, Name extends SqlFunction>(name: Name, values: ArgumentsOf<Name>): Promise<Result> => {
    const marks = typesOf(name)
      .map((type, index) => `$${index + 1}::${type}`)
      .join(',');
    const { rows } = await pool
      .query<{ result: Result }>({
        name,
        text: `select ${name}(${marks}) as result`,
        values: [...values],
      })
      .catch((error: unknown) => {
        throw isOfNoTenant(error)
          ? new Failure('NotFound', `there is no tenant "${String(values[0])}"`)
          : error;
      });
    return only(name, rows);
  };
}

/** The same as part of a transaction, whose tenant is each function's first argument. */
export async function callWithin<Result, Name extends SqlFunction>(
  tx: TenantTx,
  name: Name,
  values: ArgumentsOf<Name> extends readonly [unknown, ...infer Rest] ? Rest : never,
): Promise<Result> {
  const all = [tx.tenant, ...(values as readonly unknown[])];
  const typed = typesOf(name).map((type, index) => sql`${all[index]}::${sql.raw(type)}`);
  const { rows } = await sql<{
    result: Result;
  }>`select ${sql.raw(name)}(${sql.join(typed)}) as result`.execute(tx);
  return only(name, rows);
}

/**
 * The types are sent with each value. Then a function of the same name with other parameters counts as missing, which
 * is a fault to repair. Otherwise Postgres would convert the values to that function's types and refuse them.
 */
function typesOf(name: SqlFunction): readonly string[] {
  return SQL_FUNCTIONS[name].split(',');
}

/** Functions that never return null. */
const ALWAYS_ANSWER: ReadonlySet<SqlFunction> = new Set([
  'begin_step',
  'claim_call_2',
  'record_answer',
  'record_reads',
  'record_result_2',
]);

function only<Result>(name: SqlFunction, [row]: readonly { readonly result: Result }[]): Result {
  if (!row || (row.result === null && ALWAYS_ANSWER.has(name)))
    throw new MissingAnswer(`${name} returned nothing`);
  return row.result;
}

/** Its session's row cannot be created. */
function isOfNoTenant(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'sessions_tenant_id_fkey';
}
