-- Records a result. False when another attempt has the claim or the call is over: the late result is refused. The
-- result of a call that was never claimed, because it only reads, does not wait for the disk (synchronous_commit). No
-- kill of our processes loses it, and the next answer's commit makes it durable. If Postgres itself crashes before, the
-- model reads that the outcome is unknown and may read again. A call with a child does more than read.
-- p_budget: {settle: {attempt, spent}} for what the call reserved, {next} for what the next model call reserves (DU-7).
-- p_images: facts of each image with its bytes as `data` in base64, which are stored once.
-- p_read: {source: call} of what was read from outside before the content of the result was written (PO-5).
-- The last result of a step also returns what the next model call needs, for a caller that knows the transcript up to
-- p_after.
create function record_result(
  p_tenant text, p_session text, p_call text, p_fence text, p_ok boolean, p_code text, p_result text, p_whole_id text,
  p_whole text, p_child jsonb, p_feed jsonb, p_after bigint default null, p_summary_after bigint default null,
  p_budget jsonb default null, p_images jsonb default null, p_read jsonb default null
) returns jsonb
language plpgsql as $$
declare
  c tool_calls%rowtype;
  claimed boolean;
  known jsonb;
  basis jsonb;
begin
  select used into known from sessions where tenant_id = p_tenant and key = p_session for update;
  select fence is not null into claimed from tool_calls where tenant_id = p_tenant and id = p_call;
  update tool_calls set state = 'done', ok = p_ok, code = p_code, result = p_result, whole_id = p_whole_id,
      child = p_child,
      images = case when p_images is not null then (select jsonb_agg(i - 'data') from jsonb_array_elements(p_images) i) end,
      started_at = coalesce(started_at, now()), ended_at = now(), fence = null
    where tenant_id = p_tenant and id = p_call and state <> 'done' and (fence is null or fence = p_fence)
    returning * into c;
  if not found then
    if p_budget ? 'settle' then
      perform settle_budget(p_tenant, p_call, (p_budget #>> '{settle,attempt}')::int, p_budget #> '{settle,spent}');
    end if;
    return '{"recorded":false}';
  end if;
  if not claimed and p_child is null then perform set_config('synchronous_commit', 'off', true); end if;
  if not known ? c.tool or p_read is not null then
    perform note_used(p_tenant, c.session_key, jsonb_build_object(c.tool, c.id) || coalesce(p_read, '{}'));
  end if;
  if p_whole is not null then
    insert into tool_results (tenant_id, id, text) values (p_tenant, p_whole_id, p_whole) on conflict do nothing;
  end if;
  if p_images is not null then
    insert into files (tenant_id, digest, bytes)
      select distinct on (i ->> 'digest') p_tenant, i ->> 'digest', decode(i ->> 'data', 'base64') from jsonb_array_elements(p_images) i
      on conflict (tenant_id, digest) do update set needed_at = now(), bytes = coalesce(files.bytes, excluded.bytes);
  end if;
  perform append_events(p_tenant, c.session_key, c.turn_id, p_feed);
  if p_after is null or exists (select 1 from tool_calls where tenant_id = p_tenant and turn_id = c.turn_id
      and step = c.step and state <> 'done') then
    if p_budget ? 'settle' then
      perform settle_budget(p_tenant, p_call, (p_budget #>> '{settle,attempt}')::int, p_budget #> '{settle,spent}');
    end if;
    return '{"recorded":true}';
  end if;
  basis := begin_step(p_tenant, p_session, c.turn_id, c.step + 1, '[]', '[]', p_after, p_summary_after, '', '',
    case when p_budget ? 'settle'
      then coalesce(p_budget -> 'next', '{}') || jsonb_build_object('settle', p_budget -> 'settle' || jsonb_build_object('holder', p_call))
      else p_budget -> 'next' end);
  -- A reservation must be on the disk before it is used.
  if basis #> '{budget,held}' is not null then perform set_config('synchronous_commit', 'on', true); end if;
  return jsonb_build_object('recorded', true, 'next', basis);
end $$;
