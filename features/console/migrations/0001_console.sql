-- Up Migration
-- IN-7: browsers that are logged in with a key. Only hashes of their tokens are kept.
create table console_sessions (
  tenant_id      text not null references tenants,
  id             text not null,
  key_id         text not null,
  hash           bytea not null unique,
  -- The token before the last rotation, which a browser may still send.
  previous_hash  bytea unique,
  -- Until when it is accepted; null until the browser has used the new one.
  previous_until timestamptz,
  rotated_at     timestamptz not null default now(),
  used_at        timestamptz not null default now(),
  expires_at     timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, key_id) references api_keys on delete cascade
);
create index console_sessions_of_key on console_sessions (tenant_id, key_id, used_at);

-- Links that log a browser in, once, with the key that made them.
create table console_links (
  tenant_id  text not null references tenants,
  hash       bytea not null unique,
  key_id     text not null,
  expires_at timestamptz not null,
  used_at    timestamptz,
  primary key (tenant_id, hash),
  foreign key (tenant_id, key_id) references api_keys on delete cascade
);
create index console_links_of_key on console_links (tenant_id, key_id);
