-- Up Migration
-- AP-2, AP-4: links that let one person decide one approval, once. Only the hash of a link's token is kept.
create table approval_links (
  tenant_id   text not null references tenants,
  id          text not null,
  approval_id text not null,
  hash        bytea not null unique,
  user_id     text not null,
  scopes      text[] not null,
  -- When set, the only decision that the link can make.
  decision    text check (decision in ('approve','edit','reject')),
  created_by  text not null,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz not null,
  used_at     timestamptz,
  -- Identifies the decision that used it up.
  used_key    text,
  revoked_at  timestamptz,
  primary key (tenant_id, id)
);
create index approval_links_of on approval_links (tenant_id, approval_id);
