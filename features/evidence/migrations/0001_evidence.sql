-- Up Migration
-- DU-11. Rows of the ledger that have become final and are not yet in the chain of their tenant. The commit that makes
-- a row final writes it here, so that none is missed, however late it commits.
create table evidence_pending (
  -- No reference, because each check of one would lock the tenant's row.
  tenant_id text not null,
  id        bigint generated always as identity,
  kind      text not null,
  subject   text not null,
  part      text not null default '',
  -- The program that wrote the row; only what TempoClaw writes enters the chain.
  writer    text not null default coalesce(current_setting('application_name', true), ''),
  primary key (tenant_id, id)
);

-- The chain. `hash` covers the entry and the one before it; `digest` is SHA-256 of salt and content. The content is the
-- row itself, for kinds of its own it is here. Forgetting removes content, salt and subject; the digest stays.
create table evidence_entries (
  tenant_id text not null references tenants,
  seq       bigint not null,
  kind      text not null,
  subject   text,
  part      text not null default '',
  digest    bytea not null,
  previous  bytea not null,
  hash      bytea not null,
  salt      bytea,
  content   text,
  at        timestamptz not null,
  primary key (tenant_id, seq)
);
create unique index evidence_entries_by_subject on evidence_entries (tenant_id, kind, subject, part) where subject is not null;
create index evidence_entries_forgotten on evidence_entries (tenant_id, seq) where salt is null and subject is not null;

-- The signed head of each chain. The private key is sealed with the master key, which is not in the database.
create table evidence_heads (
  tenant_id  text not null references tenants,
  public_key text not null,
  sealed     text not null,
  key_id     text not null,
  seq        bigint not null,
  hash       bytea not null,
  signature  bytea not null,
  at         timestamptz not null,
  primary key (tenant_id)
);

-- Entries whose content has been forgotten, or is past its retention, until an entry of the chain says so.
create table evidence_removals (
  tenant_id text not null references tenants,
  id        bigint generated always as identity,
  seqs      bigint[] not null,
  -- The request to forget, or `retention`.
  why       text not null,
  primary key (tenant_id, id)
);

-- What each anchor of the settings has of the chain.
create table evidence_anchors (
  tenant_id   text not null references tenants,
  name        text not null,
  seq         bigint not null default 0,
  anchored_at timestamptz,
  -- Failures since the last success, and the newest problem.
  failures    int not null default 0,
  problem     text,
  next_at     timestamptz not null default '-infinity',
  primary key (tenant_id, name)
);

create function note_evidence() returns trigger
language plpgsql as $$
begin
  insert into evidence_pending (tenant_id, kind, subject, part)
    select new.tenant_id, tg_argv[0], to_jsonb(new) ->> tg_argv[1], case when tg_nargs > 2 then to_jsonb(new) ->> tg_argv[2] else '' end;
  return null;
end $$;
-- Calls are many and large, so their ids are read without the rest of the row.
create function note_call_evidence() returns trigger
language plpgsql as $$
begin
  insert into evidence_pending (tenant_id, kind, subject) values (new.tenant_id, 'call', new.id);
  return null;
end $$;
-- Rows that move with their tenant are in the chain that moves with them (features/tenant-move).
create trigger tool_calls_insert_evidence after insert on tool_calls for each row
  when (new.state = 'done' and current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function note_call_evidence();
create trigger tool_calls_evidence after update of state on tool_calls for each row
  when (new.state = 'done' and old.state <> 'done') execute function note_call_evidence();
create trigger approvals_insert_evidence after insert on approvals for each row
  when (new.status <> 'pending' and current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function note_evidence('approval', 'id');
create trigger approvals_evidence after update of status on approvals for each row
  when (new.status <> 'pending' and old.status = 'pending') execute function note_evidence('approval', 'id');
create trigger approval_decisions_evidence after insert on approval_decisions for each row
  when (current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function note_evidence('decision', 'approval_id', 'key');
create trigger policy_changes_evidence after insert on policy_changes for each row
  when (current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function note_evidence('policy', 'id');
create trigger agent_revisions_evidence after insert on agent_revisions for each row
  when (current_setting('tempoclaw.moving', true) is distinct from 'on')
  execute function note_evidence('revision', 'agent_key', 'revision');

-- What is there already enters the chain as it is now.
insert into evidence_pending (tenant_id, kind, subject, part, writer)
  select tenant_id, kind, subject, part, 'tempoclaw' from (
    select tenant_id, 'call' as kind, id as subject, '' as part, ended_at as at from tool_calls where state = 'done'
    union all select tenant_id, 'approval', id, '', decided_at from approvals where status <> 'pending'
    union all select tenant_id, 'decision', approval_id, key, at from approval_decisions
    union all select tenant_id, 'policy', id::text, '', changed_at from policy_changes
    union all select tenant_id, 'revision', agent_key, revision::text, created_at from agent_revisions) found
  order by at;

-- Excludes the appending of entries, so that no row enters the chain while it is being forgotten.
create function lock_evidence(p_tenant text) returns void
language sql as $$
  select pg_advisory_xact_lock(hashtextextended('tempoclaw evidence ' || p_tenant, 0))
$$;

-- Forgets the contents of entries of a session's turns up to a time, before their rows go. Safe to repeat.
create function forget_evidence(p_tenant text, p_session text, p_until timestamptz) returns void
language plpgsql as $$
begin
  perform lock_evidence(p_tenant);
  with turns_of as (
    select id from turns where tenant_id = p_tenant and session_key = p_session and created_at <= p_until),
  calls_of as (
    select id from tool_calls where tenant_id = p_tenant and session_key = p_session and turn_id in (select id from turns_of)),
  approvals_of as (
    select id from approvals where tenant_id = p_tenant and session_key = p_session and turn_id in (select id from turns_of)),
  gone as (
    select 'call' as kind, id as subject, '' as part from calls_of
    union all select 'approval', id, '' from approvals_of
    union all select 'decision', approval_id, key from approval_decisions
      where tenant_id = p_tenant and approval_id in (select id from approvals_of)),
  dropped as (
    delete from evidence_pending p using gone g
    where p.tenant_id = p_tenant and p.kind = g.kind and p.subject = g.subject and p.part = g.part),
  cleared as (
    update evidence_entries e set salt = null from gone g
    where e.tenant_id = p_tenant and e.kind = g.kind and e.subject = g.subject and e.part = g.part and e.salt is not null
    returning e.seq),
  numbered as (select seq, (row_number() over (order by seq) - 1) / 1000 as batch from cleared)
  insert into evidence_removals (tenant_id, seqs, why)
    select p_tenant, array_agg(seq order by seq), coalesce((select f.id from forgettings f where f.tenant_id = p_tenant
      and f.ended_at is null and p_session = any (f.sessions) order by f.created_at limit 1), 'retention')
    from numbered group by batch order by batch;
end $$;
