-- Appends to the feeds of several sessions and returns which of them, by their number in the batch. It waits for no
-- lock: a session that another transaction has is not among them. A batch has each session once.
create function append_batch(p_batch jsonb) returns jsonb
language sql as $$
  with wanted as (
      select w.ord, w.item ->> 'tenant' as tenant_id, w.item ->> 'session' as key, w.item ->> 'turn' as turn,
             w.item -> 'events' as events, jsonb_array_length(w.item -> 'events') as n
      from jsonb_array_elements(p_batch) with ordinality as w (item, ord)),
    locked as materialized (
      select s.tenant_id, s.key from sessions s join wanted using (tenant_id, key)
      for no key update of s skip locked),
    moved as (
      update sessions s set event_seq = s.event_seq + w.n, updated_at = active_at(s.updated_at)
      from locked l join wanted w using (tenant_id, key) where s.tenant_id = l.tenant_id and s.key = l.key
      returning w.ord, s.tenant_id, s.key, s.event_seq as last, w.turn, w.events, w.n),
    added as (
      insert into events (tenant_id, session_key, id, type, turn_id, data)
      select m.tenant_id, m.key, m.last - m.n + e.ord, e.item ->> 'type', coalesce(e.item ->> 'turn_id', m.turn),
             coalesce(e.item -> 'data', '{}')
      from moved m cross join jsonb_array_elements(m.events) with ordinality as e (item, ord))
  select coalesce(jsonb_agg(ord - 1), '[]') from moved;
$$;
