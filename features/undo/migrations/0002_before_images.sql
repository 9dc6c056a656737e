-- Up Migration
-- What a call has replaced in a file, so that an undo can put it back (DU-9).
create table before_images (
  tenant_id   text not null references tenants,
  call_id     text not null,
  session_key text not null,
  path        text not null,
  -- Base64 of the old content, sealed; null with its key when there was no file.
  sealed      text,
  key_id      text,
  -- What was read from outside before the old content was written (outside_files).
  read        jsonb not null,
  -- sha256 of the content that the call wrote.
  after       text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, call_id, path),
  check ((sealed is null) = (key_id is null))
);
create index before_images_by_session on before_images (tenant_id, session_key);
create index before_images_by_time on before_images using brin (created_at);
