-- AP-4: each decision that counted. `person` is null when who decided is only a claim; `digest` is what was agreed to.
create table approval_decisions (
  tenant_id   text not null,
  approval_id text not null,
  key         text not null,
  decision    text not null,
  by          text not null,
  person      text,
  api_key_id  text,
  via         text not null check (via in ('api','link','temporal')),
  digest      text,
  note        text,
  at          timestamptz not null default now(),
  primary key (tenant_id, approval_id, key)
);

-- Who sent the decision that the approval's workflow will get under this key: written by the API before it sends it, so
-- that nobody who can only reach Temporal can decide in another's name.
create table decision_proofs (
  tenant_id   text not null,
  approval_id text not null,
  key         text not null,
  by          text not null,
  user_id     text,
  scopes      text[] not null,
  api_key_id  text,
  via         text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, approval_id, key)
);

create index approvals_by_time on approvals (tenant_id, created_at desc, id);
