-- Puts events of a subagent's session also on its parent's feed, and on up, saying whose they are (SA-4): who watches the
-- parent must hear what a child asks. Locks go from the child up, as everywhere. Nothing for a session that is no subagent's.
create function tell_parents(p_tenant text, p_session text, p_feed jsonb) returns void
language plpgsql as $$
declare
  s subagents%rowtype;
  child text := p_session;
  asking jsonb;
begin
  loop
    select * into s from subagents where tenant_id = p_tenant and session_key = child;
    exit when not found;
    asking := coalesce(asking, jsonb_build_object('id', s.id, 'label', s.label, 'session_key', s.session_key));
    perform append_events(p_tenant, s.parent_session, s.parent_turn, (
      select jsonb_agg(e || jsonb_build_object('data', (e -> 'data') || jsonb_build_object('subagent', asking)))
      from jsonb_array_elements(p_feed) e));
    child := s.parent_session;
  end loop;
end $$;
