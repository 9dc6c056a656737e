/**
 * Queries about sessions that tools may make: only reads, within the caller's tenant and, unless sessions are shared,
 * of its user.
 */
import { type RawBuilder, sql } from 'kysely';
import type {
  AgentSummary,
  HistoryEntry,
  SessionCaller,
  SessionQueries,
  SessionSummary,
} from '#domain/turn/session-queries.ts';
import type { Pool } from '../postgres/pool.ts';
import { readRow, readRows } from '../postgres/statements.ts';

const STATUS = sql`coalesce((select t.status from turns t where t.tenant_id = s.tenant_id and t.session_key = s.key
  order by t.created_at desc limit 1), 'idle')`;

type Dated<Shown, Field extends keyof Shown> = Omit<Shown, Field> & Readonly<Record<Field, Date>>;

/** `shared`: users see the sessions of all users (`sessions.shared`). */
export function createSessionQueries(pool: Pool, shared: boolean): SessionQueries {
  /** The session that the caller works in counts as its own, whoever it belongs to. */
  const isOwn = ({ user, sessionKey }: SessionCaller): RawBuilder<boolean> =>
    shared ? sql`true` : sql`(${user}::text is null or s.user_id = ${user} or s.key = ${sessionKey})`;
  return {
    async list(caller, { activeMinutes, agent, limit }) {
      const rows = await readRows<Dated<SessionSummary, 'updated_at'>>(pool)`
        select s.key, s.agent_key as agent, ${STATUS} as status, s.updated_at, s.turns, s.title,
          coalesce((select m.is_own from messages m where m.tenant_id = s.tenant_id and m.session_key = s.key
            and m.role = 'user' and m.position is not null order by m.position limit 1), false) as "isTitleOwn"
        from sessions s
        where s.tenant_id = ${caller.tenant} and ${isOwn(caller)}
          and (${activeMinutes}::float is null or s.updated_at > now() - ${activeMinutes}::float * interval '1 minute')
          and (${agent}::text is null or s.agent_key = ${agent})
        order by s.updated_at desc, s.key limit ${limit}`;
      return rows.map((row) => ({ ...row, updated_at: row.updated_at.toISOString() }));
    },

    async history(caller, key, { limit, includeTools }) {
      const { tenant } = caller;
      const rows = await readRows<Dated<HistoryEntry, 'created_at'> | { readonly role: null }>(pool)`
        select e.role, e.text, e.created_at, e.tool from sessions s
        left join lateral (
          select role, text, created_at, tool from (
            select m.role, m.text, m.created_at, null as tool, m.position, 0 as part, 0 as index from messages m
              where m.tenant_id = ${tenant} and m.session_key = ${key} and m.position is not null and m.text <> ''
            union all
            select 'tool', coalesce(c.result, ''), c.created_at, c.tool, m.position, 1, c.index
              from messages m join tool_calls c on c.tenant_id = ${tenant} and c.turn_id = m.turn_id and c.step = m.step
              where ${includeTools} and m.tenant_id = ${tenant} and m.session_key = ${key} and m.role = 'assistant'
          ) all_of_it order by position desc, part desc, index desc limit ${limit}
        ) e on true
        where s.tenant_id = ${tenant} and s.key = ${key} and ${isOwn(caller)}`;
      if (rows.length === 0) return undefined;
      return rows
        .flatMap((row) => (row.role === null ? [] : [row]))
        .reverse()
        .map(({ tool, ...row }) => ({
          ...row,
          created_at: row.created_at.toISOString(),
          ...(tool ? { tool } : {}),
        }));
    },

    async agents(tenant, limit) {
      return readRows<AgentSummary>(pool)`
        select key, config ->> 'name' as name,
          case jsonb_typeof(config -> 'model') when 'array' then config #>> '{model,0}' else config ->> 'model' end as model
        from agents where tenant_id = ${tenant} and deleted_at is null order by key limit ${limit}`;
    },

    async addressees(tenant, { agent, user, key, label }) {
      const rows = await readRows<{ key: string }>(pool)`
        select key from sessions where tenant_id = ${tenant} and agent_key = ${agent}
          and (${shared} or user_id is not distinct from ${user})
          and (${key}::text is null or key = ${key})
          and (${label}::text is null or position(lower(${label}) in lower(coalesce(title, ''))) > 0)
        order by updated_at desc, key limit 10`;
      return rows.map((row) => row.key);
    },

    async status(caller, sessionKey) {
      return readRow<Readonly<Record<string, string | number | null>>>(pool)`
        select s.agent_key as agent, ${STATUS} as status, s.turns, s.title,
          to_char(s.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at,
          to_char(s.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as updated_at,
          coalesce(sum(t.steps), 0)::int as steps, coalesce(sum(t.input_tokens), 0)::float as input_tokens,
          coalesce(sum(t.output_tokens), 0)::float as output_tokens, sum(t.cost_usd)::float as cost_usd
        from sessions s left join turns t on t.tenant_id = s.tenant_id and t.session_key = s.key
        where s.tenant_id = ${caller.tenant} and s.key = ${sessionKey} and ${isOwn(caller)} group by s.tenant_id, s.key`;
    },
  };
}
