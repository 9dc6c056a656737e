-- Up Migration
-- Vectors that a provider's model has given, so that it is asked once for a text (DE-2). Those of different models are never compared.
create table embeddings (
  tenant_id  text not null references tenants,
  model      text not null,
  -- SHA-256 of the text; the text itself stands where it came from.
  digest     bytea not null,
  -- 32-bit floats, little-endian, of length 1.
  vector     bytea not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, model, digest)
);
create index embeddings_by_age on embeddings (tenant_id, created_at);
