/**
 * What models have used, from the answers and from uses without an answer: by agent, session, model, day and kind
 * (DU-7).
 */
import type { UsageKey, usageSchema } from '#domain/schema/budget.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface UsageFilter {
  /** Days in UTC, both included: `YYYY-MM-DD`. */
  readonly from: string;
  readonly to: string;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly model?: string | undefined;
  /** Only sessions of this user; null means all. */
  readonly user: string | null;
}

type UsageRow = Kept<typeof usageSchema>['data'][number];

const KEYS: Readonly<Record<UsageKey, string>> = {
  agent: 'u.agent_key',
  session: 'u.session_key',
  model: 'u.model',
  day: `to_char(u.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
  kind: 'u.kind',
};

/** All answers of models, and their uses without an answer. */
const USES = `
  select t.agent_key, m.session_key, m.model, 'answer' as kind, m.usage, m.usd, m.created_at
  from messages m join turns t on t.tenant_id = m.tenant_id and t.id = m.turn_id
  where m.tenant_id = $1 and m.role = 'assistant' and m.model is not null and m.model <> 'none'
    and m.created_at >= ($2::date at time zone 'UTC') and m.created_at < (($3::date + 1) at time zone 'UTC')
  union all
  select agent_key, session_key, model, kind, usage, usd, created_at from model_uses
  where tenant_id = $1 and created_at >= ($2::date at time zone 'UTC')
    and created_at < (($3::date + 1) at time zone 'UTC')`;

/** Returns at most `limit` rows, newest day first, then in the order of their keys. */
export async function readUsage(
  db: TenantDb,
  by: readonly UsageKey[],
  { from, to, agent, session, model, user }: UsageFilter,
  limit: number,
): Promise<UsageRow[]> {
  const columns = by.map((key) => `${KEYS[key]} as "${key}"`).join(', ');
  const places = by.map((_, index) => index + 1);
  const order = by.map((key, index) => `${index + 1}${key === 'day' ? ' desc' : ''}`).join(', ');
  const { rows } = await db.unbound.query<UsageRow>(
    `select ${columns}, count(*)::int as calls,
       coalesce(sum((u.usage ->> 'inputTokens')::bigint), 0)::float8 as input_tokens,
       coalesce(sum((u.usage ->> 'outputTokens')::bigint), 0)::float8 as output_tokens,
       coalesce(sum((u.usage ->> 'cachedInputTokens')::bigint), 0)::float8 as cached_tokens,
       sum(u.usd)::float8 as cost_usd, count(*) filter (where u.usd is null)::int as unpriced_calls
     from (${USES}) u
     where ($4::text is null or u.agent_key = $4) and ($5::text is null or u.session_key = $5)
       and ($6::text is null or u.model = $6)
       and ($8::text is null or exists (
         select 1 from sessions s where s.tenant_id = $1 and s.key = u.session_key and s.user_id = $8))
     group by ${places.join(', ')} order by ${order} limit $7`,
    [db.tenant, from, to, agent ?? null, session ?? null, model ?? null, limit, user],
  );
  return rows;
}
