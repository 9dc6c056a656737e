-- Asks people once more about a call that was claimed and has not run: what it would run is not what they approved. The claim and
-- what it held are given back, and the call waits as at first. p_approval: id, digest, files, reason, always, expires, words (what is
-- said of always). Null when another attempt holds the call, or it is over. An attempt that comes later finds it asked (claim_call).
create function ask_again(
  p_tenant text, p_session text, p_call text, p_fence text, p_approval jsonb, p_settle jsonb
) returns jsonb
language plpgsql as $$
declare
  c tool_calls%rowtype;
  a approvals%rowtype;
  feed jsonb;
begin
  perform 1 from sessions where tenant_id = p_tenant and key = p_session for update;
  select * into c from tool_calls where tenant_id = p_tenant and id = p_call for update;
  if not found or c.state <> 'running' or c.fence is distinct from p_fence then return null; end if;
  insert into approvals (tenant_id, id, call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, risk, terms, sandbox,
      digest, reason, always, files, expires_at)
    select tenant_id, p_approval ->> 'id', call_id, session_key, turn_id, agent_key, user_id, tool, args, summary, risk, terms, sandbox,
      p_approval ->> 'digest', p_approval ->> 'reason', p_approval -> 'always', p_approval -> 'files',
      date_trunc('milliseconds', now() + make_interval(secs => (p_approval ->> 'expires')::float))
    from approvals where tenant_id = p_tenant and id = c.approval_id
    returning * into a;
  update tool_calls set state = 'requested', fence = null, started_at = null, approval_id = a.id, digest = a.digest, reason = a.reason
    where tenant_id = p_tenant and id = p_call;
  update turns set status = 'waiting_approval' where tenant_id = p_tenant and id = c.turn_id and status = 'running';
  feed := jsonb_build_array(jsonb_build_object('type', 'approval.requested', 'data', jsonb_strip_nulls(jsonb_build_object(
    'approval_id', a.id, 'call_id', a.call_id, 'tool', a.tool, 'summary', a.summary, 'args', a.args, 'reason', a.reason, 'risk', a.risk,
    'expires_at', a.expires_at, 'always', p_approval -> 'words', 'files', a.files))));
  perform append_events(p_tenant, p_session, c.turn_id, feed);
  perform append_above(p_tenant, p_session, feed);
  if p_settle is not null then
    perform settle_budget(p_tenant, p_call, (p_settle ->> 'attempt')::int, p_settle -> 'spent');
  end if;
  return asked_again(a);
end $$;
