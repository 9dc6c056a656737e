-- EX-6, a token bucket per session: returns 0 when there was a token, otherwise the seconds until the next one.
create function take_token(p_tenant text, p_session text, p_per_hour int, p_burst int) returns int
language plpgsql as $$
declare
  b tool_rate_buckets%rowtype;
  filled float;
begin
  insert into tool_rate_buckets (tenant_id, session_key, tokens) values (p_tenant, p_session, p_burst) on conflict do nothing;
  select * into b from tool_rate_buckets where tenant_id = p_tenant and session_key = p_session for update;
  filled := least(p_burst, b.tokens + extract(epoch from now() - b.filled_at) * p_per_hour / 3600.0);
  update tool_rate_buckets set tokens = case when filled >= 1 then filled - 1 else filled end, filled_at = now()
    where tenant_id = p_tenant and session_key = p_session;
  return case when filled >= 1 then 0 else ceil((1 - filled) * 3600.0 / p_per_hour) end;
end $$;
