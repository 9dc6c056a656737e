/**
 * What models have used, by agent, user, session, model, day and kind (DU-7): the sums, and the uses that are not in them
 * yet.
 */
import { type RawBuilder, sql } from 'kysely';
import type { UsageKey, usageSchema } from '#domain/schema/budget.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import { readRows } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { USES } from './usage-rollup.ts';

export interface UsageFilter {
  /** Days in UTC, both included: `YYYY-MM-DD`. */
  readonly from: string;
  readonly to: string;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly model?: string | undefined;
  readonly user?: string | undefined;
  /** The only user whose use the caller may see; null means all. */
  readonly confinedTo: string | null;
}

type UsageRow = Kept<typeof usageSchema>['data'][number];

const COLUMNS = {
  agent: 'agent_key',
  user: 'user_id',
  session: 'session_key',
  model: 'model',
  day: 'day',
  kind: 'kind',
} as const satisfies Record<UsageKey, string>;

/** The columns that both sums have. */
const FIELDS = sql`day, agent_key, model, kind, calls, input_tokens, output_tokens, cached_tokens, usd, unpriced_calls`;

/** Returns at most `limit` rows, newest day first, then in the order of their keys. */
export function readUsage(
  db: TenantDb,
  by: readonly UsageKey[],
  { from, to, agent, session, model, user, confinedTo }: UsageFilter,
  limit: number,
): Promise<UsageRow[]> {
  const hasNames =
    [session, user].some((name) => name !== undefined) ||
    confinedTo !== null ||
    by.some((key) => key === 'session' || key === 'user');
  const sums = sql.table(hasNames ? 'usage_by_session' : 'usage_by_day');
  const fields = hasNames ? sql`${FIELDS}, session_key, user_id` : FIELDS;
  const equal = (column: string, value: string | null | undefined): RawBuilder<unknown> =>
    value === undefined || value === null ? sql`` : sql`and ${sql.ref(column)} = ${value}`;
  const condition = sql`tenant_id = ${db} and day between ${from}::date and ${to}::date ${equal('agent_key', agent)}
    ${equal('model', model)} ${equal('session_key', session)} ${equal('user_id', user)} ${equal('user_id', confinedTo)}`;
  const selected = by.map((key) => {
    const column = sql.ref(COLUMNS[key]);
    return sql`${key === 'day' ? sql`to_char(day, 'YYYY-MM-DD')` : column} as ${sql.ref(key)}`;
  });
  const order = by.map((key) => (key === 'day' ? sql`u.day desc` : sql.ref(`u.${COLUMNS[key]}`)));
  return readRows<UsageRow>(db)`
    select ${sql.join(selected)}, sum(calls)::float8 as calls, sum(input_tokens)::float8 as input_tokens,
      sum(output_tokens)::float8 as output_tokens, sum(cached_tokens)::float8 as cached_tokens,
      sum(usd)::float8 as cost_usd, sum(unpriced_calls)::float8 as unpriced_calls
    from (
      select ${fields} from ${sums} where ${condition}
      union all
      select ${fields} from (select ${USES} from model_uses) uses where ${condition}
    ) u
    group by ${sql.join(by.map((key) => sql.ref(`u.${COLUMNS[key]}`)))} order by ${sql.join(order)} limit ${limit}`;
}
