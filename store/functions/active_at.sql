-- When a session was last active, to ten seconds: most events then change no column that an index has, and the update
-- of the row stays within its page.
create function active_at(p_before timestamptz) returns timestamptz
language sql stable as $$
  select case when p_before > now() - interval '10 seconds' then p_before else now() end;
$$;
