-- Takes results that nobody has told the origin's session yet for one message (DE-2). Exactly once: what is taken stays
-- p_claim's, and a repeat gets the same. Null while a sibling still runs, and when others have told all. `more`: results
-- that are left for another message: too many for one, or such as go back to another place.
create function claim_delegation_results(p_tenant text, p_by text, p_claim text, p_most int) returns jsonb
language plpgsql as $$
declare
  origin text;
  first delegations%rowtype;
begin
  select origin_session into origin from delegations where tenant_id = p_tenant and id = p_by;
  if not found then return null; end if;
  perform 1 from sessions where tenant_id = p_tenant and key = origin for update;
  if not exists (select 1 from delegations where tenant_id = p_tenant and origin_session = origin and told_by = p_claim) then
    if untold_delegations(p_tenant, origin) = 0 then return null; end if;
    select * into first from delegations where tenant_id = p_tenant and origin_session = origin
      and ended_at is not null and told_by is null order by (id = p_by) desc, ended_at limit 1;
    update delegations set told_by = p_claim where tenant_id = p_tenant and id in (
      select id from delegations where tenant_id = p_tenant and origin_session = origin
        and ended_at is not null and told_by is null and context = first.context
      order by (id = first.id) desc, ended_at limit p_most);
  end if;
  return (select jsonb_build_object('session', origin, 'context', (array_agg(r.context))[1],
            'told', jsonb_agg(to_jsonb(r) order by r.ended_at), 'more', untold_delegations(p_tenant, origin))
          from delegations r where r.tenant_id = p_tenant and r.origin_session = origin and r.told_by = p_claim);
end $$;
