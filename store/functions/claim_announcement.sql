-- Takes the results that nobody has told the parent's session yet, that of p_by among them, for one message (SA-4). Exactly
-- once: what is taken stays p_by's, and a repeat gets the same. Results that go back to another place are left to others.
create function claim_announcement(p_tenant text, p_by text, p_most int) returns jsonb
language plpgsql as $$
declare
  s subagents%rowtype;
begin
  select * into s from subagents where tenant_id = p_tenant and id = p_by;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = s.parent_session for update;
  select * into s from subagents where tenant_id = p_tenant and id = p_by;
  if s.ended_at is null then return null; end if;
  if s.told_by is null then
    update subagents set told_by = p_by where tenant_id = p_tenant and id in (
      select id from subagents where tenant_id = p_tenant and parent_session = s.parent_session
        and ended_at is not null and told_by is null and context = s.context
      order by (id = p_by) desc, ended_at limit p_most);
  elsif s.told_by <> p_by then
    return null;
  end if;
  return jsonb_build_object('session', s.parent_session, 'context', s.context,
    'told', (select jsonb_agg(to_jsonb(r) order by r.ended_at) from subagents r
      where r.tenant_id = p_tenant and r.parent_session = s.parent_session and r.told_by = p_by));
end $$;
