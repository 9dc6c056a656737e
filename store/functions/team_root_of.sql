-- The budget_root of a session that works for a team: what it uses counts for the team, and where a turn has asked for the work,
-- for all that this turn's use counts for. Teams within teams all count.
create function team_root_of(p_tenant text, p_team text, p_session text, p_turn text) returns jsonb
language sql stable as $$
  with origin (root) as (select coalesce(budget_root_of(p_tenant, p_session, p_turn), '{}'))
  select root || jsonb_build_object('team', case when root -> 'team' ? p_team then root -> 'team'
    else coalesce(root -> 'team', '[]') || to_jsonb(p_team) end)
  from origin
$$;
