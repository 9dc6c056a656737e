-- record_result, with the files of the workspace that the call has changed (see tool_calls.changed_files).
create function record_result_2(
  p_tenant text, p_session text, p_call text, p_fence text, p_ok boolean, p_code text, p_result text, p_whole_id text,
  p_whole text, p_child jsonb, p_feed jsonb, p_after bigint default null, p_summary_after bigint default null,
  p_budget jsonb default null, p_images jsonb default null, p_read jsonb default null, p_changed jsonb default null
) returns jsonb
language plpgsql as $$
begin
  if p_changed is not null then
    -- The row of the session first, as everywhere.
    perform from sessions where tenant_id = p_tenant and key = p_session for update;
    update tool_calls set changed_files = p_changed
      where tenant_id = p_tenant and id = p_call and state <> 'done' and (fence is null or fence = p_fence);
  end if;
  return record_result(p_tenant, p_session, p_call, p_fence, p_ok, p_code, p_result, p_whole_id, p_whole, p_child,
    p_feed, p_after, p_summary_after, p_budget, p_images, p_read);
end $$;
