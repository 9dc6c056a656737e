-- Hands a chat over (DE-5): the route, the new session with its first message, and the event on the feed of the old one, in
-- one commit. The last one wins; the same call again changes nothing. The conversation stays within the budget of the session in
-- which it began.
-- p_route: channel, chat_id, from, to, session, reason, path, call, old_session, turn, context, user, message, text
create function set_handoff(p_tenant text, p_route jsonb) returns void
language plpgsql as $$
begin
  insert into handoff_routes as r (tenant_id, channel, chat_id, from_key, to_key, session_key, reason, path, created_by)
    values (p_tenant, p_route ->> 'channel', p_route ->> 'chat_id', p_route ->> 'from', p_route ->> 'to', p_route ->> 'session',
            p_route ->> 'reason', p_route -> 'path', p_route ->> 'call')
    on conflict (tenant_id, channel, chat_id) do update set from_key = excluded.from_key, to_key = excluded.to_key,
      session_key = excluded.session_key, reason = excluded.reason, path = excluded.path, created_by = excluded.created_by,
      created_at = now() where r.created_by <> excluded.created_by;
  if not found then return; end if;
  perform write_work(p_tenant, jsonb_build_object('session', p_route ->> 'session', 'agent', p_route ->> 'to',
    'user', p_route ->> 'user', 'title', p_route ->> 'reason', 'context', p_route -> 'context',
    'message', p_route ->> 'message', 'text', p_route ->> 'text', 'budget_root', (
      select jsonb_strip_nulls(jsonb_build_object('session', root -> 'session', 'team', root -> 'team'))
      from budget_root_of(p_tenant, p_route ->> 'old_session', p_route ->> 'turn') root)));
  perform append_events(p_tenant, p_route ->> 'old_session', p_route ->> 'turn', jsonb_build_array(jsonb_build_object(
    'type', 'handoff', 'data', jsonb_build_object('from', p_route ->> 'from', 'to', p_route ->> 'to',
      'session_key', p_route ->> 'session', 'reason', p_route ->> 'reason', 'channel', p_route ->> 'channel',
      'chat_id', p_route ->> 'chat_id'))));
end $$;
