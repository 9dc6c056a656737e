-- The limits that apply to a turn's calls: one row per account, in the order in which all of them are locked. p_root is
-- the root that the tree's use counts for. p_agent is the acting agent: a delegate's use counts for its own agent's
-- budgets as well. p_budget: the settings' budgets, and the default reserve when neither a budget nor the previous call
-- sets one. `shards` is how many rows the account has: one where few steps run at the same time.
create function budgets_of(p_tenant text, p_root jsonb, p_agent text, p_budget jsonb) returns table (
  budget_id text, scope text, subject text, since date, measure text, most numeric, reserve numeric, on_limit text,
  shards int
)
language sql stable as $$
  with subjects (scope, subject) as (
    select s.scope, s.subject
    from (values ('turn', p_root ->> 'turn'), ('agent', p_root ->> 'agent'), ('agent', p_agent), ('tenant', '')) s (scope, subject)
    where s.subject is not null group by 1, 2
    union all select 'session', session from jsonb_path_query(p_root, 'lax $.session[*]') x, lateral (select x #>> '{}') s (session)
    union all select 'team', team from jsonb_array_elements_text(p_root -> 'team') team
  ), rules (id, scope, subject, period, config) as (
    select concat_ws(':', 'settings', r ->> 'scope', coalesce(r ->> 'subject', '*'), coalesce(r ->> 'period', 'total')),
           r ->> 'scope', coalesce(r ->> 'subject', ''), coalesce(r ->> 'period', 'total'), r
      from jsonb_array_elements(coalesce(p_budget -> 'settings', '[]')) r
    union all
    select concat_ws(':', 'agent', a.key, r ->> 'scope', coalesce(r ->> 'period', 'total')), r ->> 'scope',
           case when r ->> 'scope' = 'agent' then a.key else '' end, coalesce(r ->> 'period', 'total'), r
      from agents a, jsonb_array_elements(coalesce(a.config -> 'budgets', '[]')) r
      where a.tenant_id = p_tenant and a.key in (p_root ->> 'agent', p_agent)
        and (a.key = p_root ->> 'agent' or r ->> 'scope' = 'agent')
    union all
    select b.id, b.scope, b.subject, b.period, b.config from budgets b where b.tenant_id = p_tenant
  )
  select r.id, s.scope, s.subject,
    case r.period when 'total' then date '1970-01-01' else date_trunc(r.period, now() at time zone 'UTC')::date end,
    m.measure, m.most, least(m.most, coalesce((r.config #>> array['reserve', m.measure])::numeric,
                                              (p_budget #>> array['reserve', m.measure])::numeric, 1)),
    coalesce(r.config ->> 'on_limit', 'ask'),
    case when s.scope in ('turn', 'session') then 1 else 8 end
  from rules r join subjects s on s.scope = r.scope and r.subject in ('', s.subject)
    cross join lateral (select k.measure, (r.config ->> k.measure)::numeric as most
                        from unnest(array['tokens','usd','seconds','calls']) k (measure)) m
  where m.most is not null
  order by 1, 3, 4, 5
$$;
