-- Maps tools to calls: what a session had read at that time (PO-5). Results that arrived later cannot have influenced a
-- call. Null means now.
create function used_before(p_used jsonb, p_at timestamptz default null) returns jsonb
language sql stable as $$
  select case when p_used = '{}' then p_used else (
    select coalesce(jsonb_object_agg(key, value -> 'call'), '{}') from jsonb_each(p_used)
    where p_at is null or (value ->> 'at')::numeric < extract(epoch from p_at)) end
$$;
