-- Up Migration
-- DU-10. A revision that only some sessions of the agent get: {id, revision, share: 0 to 100, users, sessions, abort?, by,
-- at}. All others get the row's own revision; null while all do.
alter table agents add column rollout jsonb;
create index agents_in_rollout on agents (tenant_id, key) where rollout is not null;

-- What of an agent's work can change beside its revision, as it was when the turn started: {policy: SHA-256 of the
-- tenant's, tools: version of the tenant's own tools, MCP servers and skills}.
alter table turns add column ran_with jsonb;
-- For the comparison of revisions.
create index turns_of_agent on turns (tenant_id, agent_key, started_at) where started_at is not null;

-- Each change of a rollout. `number` counts for each agent. `users` and `sessions` are how many it names.
create table rollout_changes (
  tenant_id  text not null,
  agent_key  text not null,
  number     int not null,
  rollout_id text not null,
  action     text not null check (action in ('start', 'set', 'finish', 'back')),
  base       int not null,
  revision   int not null,
  share      int not null,
  users      int not null,
  sessions   int not null,
  reason     text,
  changed_by text not null,
  changed_at timestamptz not null default now(),
  primary key (tenant_id, agent_key, number),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);

-- Decides in the statement that starts a turn, whichever version of TempoClaw runs it.
create function pin_revision() returns trigger
language plpgsql as $$
begin
  -- Functions follow their migrations: until they do, there is no rollout.
  if to_regprocedure('revision_of_session(text, text)') is null then return new; end if;
  select coalesce(revision_of_session(new.tenant_id, new.session_key), new.agent_revision), jsonb_strip_nulls(jsonb_build_object(
      'policy', encode(sha256(convert_to(n.policy::text, 'UTF8')), 'hex'), 'tools', c.version))
    into new.agent_revision, new.ran_with
    from tenants n left join changes c on c.tenant_id = n.id and c.kind = 'custom_tools'
    where n.id = new.tenant_id;
  return new;
end $$;
create trigger turns_pin_revision before update of agent_revision on turns for each row
  when (old.agent_revision is null and new.agent_revision is not null) execute function pin_revision();
