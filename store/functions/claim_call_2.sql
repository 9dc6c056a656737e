-- claim_call, with the rules of the rollout's revision for a turn that runs with it (DU-10).
create function claim_call_2(
  p_tenant text, p_call text, p_fence text, p_once boolean, p_reads boolean, p_per_hour int, p_burst int,
  p_budget jsonb default null
) returns jsonb
language plpgsql as $$
declare
  claim jsonb;
  rules jsonb;
begin
  claim := claim_call(p_tenant, p_call, p_fence, p_once, p_reads, p_per_hour, p_burst, p_budget);
  if claim ->> 'kind' = 'run' then
    select agent_in_force(p_tenant, t.agent_key, t.agent_revision) into rules
      from turns t join agents a on a.tenant_id = p_tenant and a.key = t.agent_key and a.rollout is not null
      where t.tenant_id = p_tenant and t.id = claim ->> 'turn';
  end if;
  return case when rules is null then claim else claim || jsonb_build_object('agent', rules) end;
end $$;
