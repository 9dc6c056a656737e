-- Creates the partitions of `events` for this month and the next two, and drops months that ended more than `p_days` ago;
-- null drops none. Returns the number dropped. A month that cannot be had now, because others hold the table or because
-- `other` has rows of it, is left for the next call. Safe to repeat, also concurrently.
create function keep_event_months(p_days integer) returns integer
language plpgsql as $$
declare
  this_month constant timestamp := date_trunc('month', now() at time zone 'UTC');
  dropped integer := 0;
  month timestamp;
  name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('months of events', 0)), set_config('lock_timeout', '2s', true);
  for month in select generate_series(this_month, this_month + interval '2 months', interval '1 month') loop
    name := to_char(month, '"event_months.m"YYYY_MM');
    continue when to_regclass(name) is not null;
    begin
      execute format('create table %s partition of events for values from (%L) to (%L)', name,
        month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    exception when check_violation or lock_not_available then null;
    end;
  end loop;
  for name in
    select 'event_months.' || c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'events'::regclass and c.relname ~ '^m\d{4}_\d\d$'
      and (to_date(c.relname, '"m"YYYY_MM') + interval '1 month') at time zone 'UTC' < now() - make_interval(days => p_days)
    order by 1
  loop
    begin
      execute format('drop table %s', name);
      dropped := dropped + 1;
    exception when lock_not_available then exit;
    end;
  end loop;
  return dropped;
end;
$$;
