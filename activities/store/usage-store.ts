/** What models have used, from the answers themselves: by agent, session, model and day (DU-7). */
import type { UsageKey } from '#domain/schema/budget.ts';
import type { Pool } from './pool.ts';

export interface UsageFilter {
  /** Days in UTC, both included: `YYYY-MM-DD`. */
  readonly from: string;
  readonly to: string;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly model?: string | undefined;
}

export interface UsageRow {
  readonly agent?: string;
  readonly session?: string;
  readonly model?: string;
  readonly day?: string;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly cost_usd: number | null;
  readonly unpriced_calls: number;
}

const KEYS: Readonly<Record<UsageKey, string>> = {
  agent: 't.agent_key',
  session: 'm.session_key',
  model: 'm.model',
  day: `to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
};

/** At most `limit` rows, in the order of their keys, the newest day first. */
export async function readUsage(
  pool: Pool,
  tenant: string,
  by: readonly UsageKey[],
  { from, to, agent, session, model }: UsageFilter,
  limit: number,
): Promise<UsageRow[]> {
  const columns = by.map((key) => `${KEYS[key]} as "${key}"`).join(', ');
  const places = by.map((_, index) => index + 1);
  const order = by.map((key, index) => `${index + 1}${key === 'day' ? ' desc' : ''}`).join(', ');
  const { rows } = await pool.query<UsageRow>(
    `select ${columns}, count(*)::int as calls,
       coalesce(sum((m.usage ->> 'inputTokens')::bigint), 0)::float8 as input_tokens,
       coalesce(sum((m.usage ->> 'outputTokens')::bigint), 0)::float8 as output_tokens,
       coalesce(sum((m.usage ->> 'cachedInputTokens')::bigint), 0)::float8 as cached_tokens,
       sum(m.usd)::float8 as cost_usd, count(*) filter (where m.usd is null)::int as unpriced_calls
     from messages m join turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
     where m.tenant_id = $1 and m.role = 'assistant' and m.model is not null and m.model <> 'none'
       and m.created_at >= ($2::date at time zone 'UTC') and m.created_at < (($3::date + 1) at time zone 'UTC')
       and ($4::text is null or t.agent_key = $4) and ($5::text is null or m.session_key = $5)
       and ($6::text is null or m.model = $6)
     group by ${places.join(', ')} order by ${order} limit $7`,
    [tenant, from, to, agent ?? null, session ?? null, model ?? null, limit],
  );
  return rows;
}
