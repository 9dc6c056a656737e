/** What tools may ask about sessions: reads only, within the caller's tenant and, unless they are shared, its user's. */
import type { SessionCaller, SessionQueries } from '#domain/session-queries.ts';
import type { Pool } from './pool.ts';

const STATUS = `coalesce((select t.status from turns t where t.tenant_id = s.tenant_id and t.session_key = s.key
  order by t.created_at desc limit 1), 'idle')`;

/** The session that the caller works in is its own, whosever it is. `$2` the user, `$3` that session. */
const IS_OWN = '($2::text is null or s.user_id = $2 or s.key = $3)';

/** `shared`: users reach the sessions of all (`sessions.shared`). */
export function createSessionQueries(pool: Pool, shared: boolean): SessionQueries {
  const viewer = ({ tenant, user, sessionKey }: SessionCaller): [string, string | null, string] => [
    tenant,
    shared ? null : user,
    sessionKey,
  ];
  return {
    async list(caller, options) {
      const { rows } = await pool.query({
        name: 'tool_sessions_list',
        text: `select s.key, s.agent_key as agent, ${STATUS} as status, s.updated_at, s.turns, s.title
               from sessions s
               where s.tenant_id = $1 and ${IS_OWN}
                 and ($5::float is null or s.updated_at > now() - $5::float * interval '1 minute')
                 and ($6::text is null or s.agent_key = $6)
               order by s.updated_at desc, s.key limit $4`,
        values: [...viewer(caller), options.limit, options.activeMinutes ?? null, options.agent ?? null],
      });
      return rows.map((row) => ({ ...row, updated_at: row.updated_at.toISOString() }));
    },

    async history(caller, sessionKey, options) {
      const { rows } = await pool.query({
        name: 'tool_sessions_history',
        text: `select e.role, e.text, e.created_at, e.tool from sessions s
               left join lateral (
                 select role, text, created_at, tool from (
                   select m.role, m.text, m.created_at, null as tool, m.position, 0 as part, 0 as index from messages m
                     where m.tenant_id = $1 and m.session_key = $4 and m.position is not null and m.text <> ''
                   union all
                   select 'tool', coalesce(c.result, ''), c.created_at, c.tool, m.position, 1, c.index
                     from messages m join tool_calls c on c.tenant_id = $1 and c.turn_id = m.turn_id and c.step = m.step
                     where $6 and m.tenant_id = $1 and m.session_key = $4 and m.role = 'assistant'
                 ) all_of_it order by position desc, part desc, index desc limit $5
               ) e on true
               where s.tenant_id = $1 and s.key = $4 and ${IS_OWN}`,
        values: [...viewer(caller), sessionKey, options.limit, options.includeTools],
      });
      if (rows.length === 0) return undefined;
      return rows
        .filter((row) => row.role !== null)
        .reverse()
        .map(({ tool, ...row }) => ({
          ...row,
          created_at: row.created_at.toISOString(),
          ...(tool ? { tool } : {}),
        }));
    },

    async agents(tenant, limit) {
      const { rows } = await pool.query({
        name: 'tool_agents_list',
        text: `select key, config ->> 'name' as name,
                 case jsonb_typeof(config -> 'model') when 'array' then config #>> '{model,0}' else config ->> 'model' end as model
               from agents where tenant_id = $1 and deleted_at is null order by key limit $2`,
        values: [tenant, limit],
      });
      return rows;
    },

    async addressees(tenant, { agent, user, key, label }) {
      const { rows } = await pool.query<{ key: string }>({
        name: 'tool_addressees',
        text: `select key from sessions where tenant_id = $1 and agent_key = $2 and ($6 or user_id is not distinct from $3)
                 and ($4::text is null or key = $4)
                 and ($5::text is null or position(lower($5) in lower(coalesce(title, ''))) > 0)
               order by updated_at desc, key limit 10`,
        values: [tenant, agent, user, key ?? null, label ?? null, shared],
      });
      return rows.map((row) => row.key);
    },

    async status(caller, sessionKey) {
      const { rows } = await pool.query({
        name: 'tool_session_status',
        text: `select s.agent_key as agent, ${STATUS} as status, s.turns, s.title,
                 to_char(s.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at,
                 to_char(s.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as updated_at,
                 coalesce(sum(t.steps), 0)::int as steps, coalesce(sum(t.input_tokens), 0)::float as input_tokens,
                 coalesce(sum(t.output_tokens), 0)::float as output_tokens, sum(t.cost_usd)::float as cost_usd
               from sessions s left join turns t on t.tenant_id = s.tenant_id and t.session_key = s.key
               where s.tenant_id = $1 and s.key = $4 and ${IS_OWN} group by s.tenant_id, s.key`,
        values: [...viewer(caller), sessionKey],
      });
      return rows[0];
    },
  };
}
