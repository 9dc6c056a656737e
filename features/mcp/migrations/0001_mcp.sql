-- Up Migration
-- Servers whose tools a tenant's agents use (MC-1).
create table mcp_servers (
  tenant_id      text not null references tenants,
  id             uuid not null default gen_random_uuid(),
  name           text not null,
  -- What its tools' names begin with.
  base           text not null,
  config         jsonb not null,
  -- Variables and headers.
  sealed         text not null,
  key_id         text not null,
  -- Revision of the connection: each worker makes a new one for the next.
  revision       int not null default 1,
  status         text not null default 'connecting' check (status in ('connecting','ready','degraded','failed')),
  error          text,
  -- Null until its tools were listed for the first time. Adding the server is consent to that list.
  consented_at   timestamptz,
  -- A worker should check it, has done so, or is doing it.
  check_asked_at timestamptz not null default now(),
  checked_at     timestamptz,
  checking_until timestamptz,
  -- Whose connection the check uses, for a server with each user's own credentials.
  check_user     text,
  -- Servers of the settings file are changed only there.
  origin         text not null default 'api' check (origin in ('api','settings')),
  updated_by     text not null,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (tenant_id, id),
  unique (tenant_id, name),
  unique (tenant_id, base)
);
create index mcp_servers_to_check on mcp_servers (check_asked_at) where checked_at is null or checked_at < check_asked_at;

-- The tools that a server lists. Agents have those whose description is the one that somebody agreed to.
create table mcp_tools (
  tenant_id   text not null,
  server_id   uuid not null,
  name        text not null,
  id          uuid not null default gen_random_uuid(),
  -- A call is bound to it.
  revision    int not null default 1,
  -- The agreed definition; null for a tool that came later.
  pinned      jsonb,
  pinned_hash text,
  -- The server's current definition; null when it no longer lists the tool.
  found       jsonb,
  found_hash  text,
  primary key (tenant_id, server_id, name),
  unique (tenant_id, id),
  foreign key (tenant_id, server_id) references mcp_servers (tenant_id, id) on delete cascade
);

-- Who may use what of a server (MC-3).
create table mcp_grants (
  tenant_id  text not null,
  server_id  uuid not null,
  kind       text not null check (kind in ('agent','user')),
  subject    text not null,
  tool_allow text[] not null,
  tool_deny  text[] not null,
  enabled    boolean not null,
  -- An agent's settings, in place of the server's.
  config_overrides jsonb not null default '{}',
  updated_by text not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, server_id, kind, subject),
  foreign key (tenant_id, server_id) references mcp_servers (tenant_id, id) on delete cascade
);

-- Who requested a grant, and what became of it. It is decided once, in one transaction with the grant.
create table mcp_access_requests (
  tenant_id    text not null,
  id           text not null,
  server_id    uuid not null,
  kind         text not null check (kind in ('agent','user')),
  subject      text not null,
  tool_allow   text[] not null,
  reason       text not null,
  status       text not null default 'pending' check (status in ('pending','approved','rejected')),
  requested_by text not null,
  created_at   timestamptz not null default now(),
  reviewed_by  text,
  reviewed_at  timestamptz,
  review_reason text,
  primary key (tenant_id, id),
  foreign key (tenant_id, server_id) references mcp_servers (tenant_id, id) on delete cascade
);
create unique index mcp_access_requests_pending on mcp_access_requests (tenant_id, server_id, kind, subject)
  where status = 'pending';
create index mcp_access_requests_by_time on mcp_access_requests (tenant_id, created_at desc, id);

-- Credentials besides a server's own variables and headers: those of one user, where each has their own, and logins by
-- OAuth.
create table mcp_credentials (
  tenant_id        text not null,
  server_id        uuid not null,
  -- Empty for credentials that are for all.
  user_id          text not null,
  sealed           text not null,
  key_id           text not null,
  -- A writer must have read the previous revision.
  revision         int not null default 1,
  -- A connection uses the credentials of one submission; null before the first login.
  given_at         timestamptz,
  -- For the login under way: the hash of its `state`, null when it is used.
  state_hash       bytea unique,
  state_expires_at timestamptz,
  -- One worker refreshes the tokens until then.
  refreshing_until timestamptz,
  primary key (tenant_id, server_id, user_id),
  foreign key (tenant_id, server_id) references mcp_servers (tenant_id, id) on delete cascade
);
