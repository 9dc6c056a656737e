-- From tool to call, what a session had read by then (PO-5): what came back later is nothing that a call could be chosen by. Null:
-- by now.
create function used_before(p_used jsonb, p_at timestamptz default null) returns jsonb
language sql stable as $$
  select case when p_used = '{}' then p_used else (
    select coalesce(jsonb_object_agg(key, value -> 'call'), '{}') from jsonb_each(p_used)
    where p_at is null or (value ->> 'at')::numeric < extract(epoch from p_at)) end
$$;
