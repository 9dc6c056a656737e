-- Appends events of a session that works for another to the feed of the session that started it, and so on upwards
-- (SA-4). The events contain their origin, because a reader of the origin must see the questions of its work. Locks are
-- taken from the child upwards, as everywhere. It does nothing for a session that no other started.
create function append_above(p_tenant text, p_session text, p_feed jsonb) returns void
language plpgsql as $$
declare
  a assignments%rowtype;
  child text := p_session;
  given jsonb;
  asking jsonb;
begin
  loop
    select * into a from assignments where tenant_id = p_tenant and session_key = child and kind = 'subagent';
    if not found then
      select bound_context -> 'delegation' into given from sessions where tenant_id = p_tenant and key = child;
      exit when given is null;
      a.id := given ->> 'id';
      a.label := given ->> 'label';
      a.session_key := child;
      a.origin_session := given ->> 'session';
      a.origin_turn := given ->> 'turn';
    end if;
    asking := coalesce(asking, jsonb_build_object(case when given is null then 'subagent' else 'delegation' end,
      jsonb_build_object('id', a.id, 'label', a.label, 'session_key', a.session_key)));
    perform append_events(p_tenant, a.origin_session, a.origin_turn, (
      select jsonb_agg(e || jsonb_build_object('data', (e -> 'data') || asking)) from jsonb_array_elements(p_feed) e));
    child := a.origin_session;
    given := null;
  end loop;
end $$;
