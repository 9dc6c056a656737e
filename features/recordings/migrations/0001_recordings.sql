-- Up Migration
-- A session whose models, tools and people have stand-ins: what they answer, and where it first differed (DU-6).
create table replays (
  tenant_id   text not null references tenants,
  id          text not null,
  session_key text not null,
  -- compare: a replay that differs from its recording ends. record: it notes what the model is asked. live: the model
  -- answers itself, and its calls are compared. script: tools and people follow a script.
  mode        text not null check (mode in ('compare','record','live','script')),
  stand_ins   jsonb not null,
  difference  jsonb,
  created_by  text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index replays_of_session on replays (tenant_id, session_key);
-- What the model was asked: `TURN.STEP` for a step, else the digest of a part that steps name.
create table replay_parts (
  tenant_id   text not null references tenants,
  replay_id   text not null,
  name        text not null,
  session_key text not null,
  value       jsonb not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, replay_id, name)
);
create index replay_parts_of_session on replay_parts (tenant_id, session_key);
