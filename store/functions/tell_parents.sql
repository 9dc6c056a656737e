-- Puts events of a subagent's session, or of one that works for a delegation, also on the feed of who started it, and on up,
-- saying whose they are (SA-4): who watches the parent must hear what a child asks. Locks go from the child up, as everywhere.
-- Nothing for a session that nobody started.
create function tell_parents(p_tenant text, p_session text, p_feed jsonb) returns void
language plpgsql as $$
declare
  s subagents%rowtype;
  child text := p_session;
  given jsonb;
  asking jsonb;
begin
  loop
    select * into s from subagents where tenant_id = p_tenant and session_key = child;
    if not found then
      select bound_context -> 'delegation' into given from sessions where tenant_id = p_tenant and key = child;
      exit when given is null;
      s.id := given ->> 'id';
      s.label := given ->> 'label';
      s.session_key := child;
      s.parent_session := given ->> 'session';
      s.parent_turn := given ->> 'turn';
    end if;
    asking := coalesce(asking, jsonb_build_object(case when given is null then 'subagent' else 'delegation' end,
      jsonb_build_object('id', s.id, 'label', s.label, 'session_key', s.session_key)));
    perform append_events(p_tenant, s.parent_session, s.parent_turn, (
      select jsonb_agg(e || jsonb_build_object('data', (e -> 'data') || asking)) from jsonb_array_elements(p_feed) e));
    child := s.parent_session;
    given := null;
  end loop;
end $$;
