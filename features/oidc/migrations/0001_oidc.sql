-- Up Migration
-- IN-10: refresh tokens of people who are logged in to the console. `person_id` is the key of the person.
create table oidc_refreshes (
  tenant_id  text not null references tenants,
  person_id  text not null,
  issuer     text not null,
  sealed     text not null,
  key_id     text not null,
  due_at     timestamptz not null,
  -- A process that refreshes holds the row until then.
  held_until timestamptz,
  primary key (tenant_id, person_id),
  foreign key (tenant_id, person_id) references api_keys on delete cascade
);
create index oidc_refreshes_due on oidc_refreshes (due_at);
