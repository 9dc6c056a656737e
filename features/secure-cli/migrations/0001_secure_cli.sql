-- Up Migration
-- Programs that run with credentials of the tenant (SH-4). `sealed` contains their environment.
create table secure_cli_binaries (
  tenant_id  text not null references tenants,
  name       text not null,
  config     jsonb not null,
  sealed     text not null,
  key_id     text not null,
  updated_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, name)
);

-- What users give for programs that run with each user's own credentials. `sealed` contains their variables.
create table secure_cli_credentials (
  tenant_id text not null,
  name      text not null,
  user_id   text not null,
  sealed    text not null,
  key_id    text not null,
  given_at  timestamptz not null,
  primary key (tenant_id, name, user_id),
  foreign key (tenant_id, name) references secure_cli_binaries (tenant_id, name) on delete cascade
);
