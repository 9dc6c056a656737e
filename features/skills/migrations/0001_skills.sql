-- Up Migration
-- Skills that were published. The row of a removed one stays, so that its versions are never counted anew.
create table skills (
  tenant_id  text not null references tenants,
  name       text not null,
  visibility text not null check (visibility in ('private','public')),
  -- Whose tool may publish further versions: 'user:ID' or 'agent:KEY'; null for nobody's, only the API.
  owner      text,
  -- The newest version.
  version    int not null default 0,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);

create table skill_versions (
  tenant_id    text not null,
  name         text not null,
  version      int not null,
  description  text not null,
  -- Globs of the tools that it names; null when it names none.
  allowed      text[],
  -- A person has agreed to it: by an approval of the call, or through the API.
  agreed       boolean not null,
  -- Digest of its files: paths and contents.
  sha256       text not null,
  -- [{path, digest, size}]; the bytes are in `files`.
  files        jsonb not null,
  published_by text not null,
  -- The call that has published it; null for the API.
  session_key  text,
  turn_id      text,
  call_id      text,
  created_at   timestamptz not null default now(),
  primary key (tenant_id, name, version),
  foreign key (tenant_id, name) references skills (tenant_id, name)
);
create index skill_versions_of_bytes on skill_versions using gin (files jsonb_path_ops);

-- Who may use a private skill.
create table skill_grants (
  tenant_id  text not null,
  name       text not null,
  kind       text not null check (kind in ('agent','user')),
  subject    text not null,
  granted_by text not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, name, kind, subject),
  foreign key (tenant_id, name) references skills (tenant_id, name)
);
