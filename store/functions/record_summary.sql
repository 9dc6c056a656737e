-- A summary stands for the transcript up to a position; the rows stay. p_use is what it took.
create function record_summary(
  p_tenant text, p_session text, p_turn text, p_summary text, p_position bigint, p_use jsonb default null
) returns void
language plpgsql as $$
begin
  if p_use is not null then perform note_model_uses(p_tenant, p_session, p_turn, jsonb_build_array(p_use)); end if;
  update sessions set summary = p_summary, summary_position = p_position
    where tenant_id = p_tenant and key = p_session and summary_position < p_position;
  if found then
    perform append_events(p_tenant, p_session, p_turn, jsonb_build_array(jsonb_build_object('type', 'context.compacted',
      'data', jsonb_build_object('position', p_position))));
  end if;
end $$;
