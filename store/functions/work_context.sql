-- What a turn hands to work that it gives away: who it is for, and what the request allows. Not what bound it to one agent.
create function work_context(p_context jsonb) returns jsonb
language sql immutable as $$
  select p_context - 'agent' - 'subagent' - 'within' - 'delegation' - 'team'
$$;
