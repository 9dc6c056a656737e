-- What a gate found of an attempt; the first word stays. Told on the feed of the session whose work it is.
create function record_gate_check(p_tenant text, p_check jsonb) returns void
language plpgsql as $$
begin
  insert into gate_checks (tenant_id, owner_id, gate, attempt, name, kind, step, feedback)
    values (p_tenant, p_check ->> 'owner', (p_check ->> 'gate')::int, (p_check ->> 'attempt')::int, p_check ->> 'name',
            p_check ->> 'kind', p_check ->> 'step', p_check ->> 'feedback')
    on conflict do nothing;
  if found then
    perform append_events(p_tenant, p_check ->> 'session', p_check ->> 'turn', jsonb_build_array(jsonb_build_object(
      'type', 'gate.checked', 'data', jsonb_build_object('owner_id', p_check ->> 'owner', 'gate', p_check ->> 'name',
        'attempt', (p_check ->> 'attempt')::int, 'kind', p_check ->> 'kind', 'step', p_check ->> 'step',
        'feedback', left(p_check ->> 'feedback', 500)))));
  end if;
end $$;
