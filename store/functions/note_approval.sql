-- Says in the feed that an approval still waits: 'escalated' lets others decide from now on, once; 'reminded' only says so.
-- Runs again safely. False when there is nothing to say: it was decided, or its terms name nobody to escalate to.
create function note_approval(p_tenant text, p_id text, p_what text, p_count int) returns boolean
language plpgsql as $$
declare
  a approvals%rowtype;
  session text;
begin
  select session_key into session from approvals where tenant_id = p_tenant and id = p_id;
  perform 1 from sessions where tenant_id = p_tenant and key = session for update;
  update approvals set
      escalated_at = case when p_what = 'escalated' then now() else escalated_at end,
      reminders = case when p_what = 'reminded' then p_count else reminders end,
      changed_at = clock_timestamp()
    where tenant_id = p_tenant and id = p_id and status = 'pending'
      and case when p_what = 'escalated' then terms ? 'escalate' and escalated_at is null else reminders < p_count end
    returning * into a;
  if not found then
    return p_what = 'escalated' and exists (select 1 from approvals where tenant_id = p_tenant and id = p_id and escalated_at is not null);
  end if;
  perform append_events(p_tenant, session, a.turn_id, jsonb_build_array(jsonb_build_object('type', 'approval.' || p_what, 'data',
    jsonb_strip_nulls(jsonb_build_object('approval_id', p_id, 'call_id', a.call_id, 'summary', a.summary, 'expires_at', a.expires_at,
      'to', case when p_what = 'escalated' then a.terms #> '{escalate,to}' end,
      'count', case when p_what = 'reminded' then p_count end)))));
  return true;
end $$;
