-- Up Migration
-- Chat services whose messages an agent answers (IN-4). Outgoing posts use the channel's webhook, which also has its
-- credentials.
create table channels (
  tenant_id  text not null references tenants,
  key        text not null,
  webhook_id uuid not null,
  type       text not null check (type in ('telegram','slack','discord','web','webhook')),
  agent_key  text not null,
  settings   jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, key)
);
create unique index channels_by_webhook on channels (tenant_id, webhook_id);

-- Which user a person of the service is.
create table channel_people (
  tenant_id   text not null,
  channel_key text not null,
  -- The service's id.
  person_id   text not null,
  name        text not null,
  user_id     text not null,
  may_decide  boolean not null,
  created_by  text not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, channel_key, person_id),
  foreign key (tenant_id, channel_key) references channels (tenant_id, key) on delete cascade
);

-- Codes that unknown people got.
create table channel_pairings (
  tenant_id   text not null,
  channel_key text not null,
  person_id   text not null,
  name        text not null,
  code        text not null,
  created_at  timestamptz not null default now(),
  notified_at     timestamptz not null default now(),
  primary key (tenant_id, channel_key, person_id),
  foreign key (tenant_id, channel_key) references channels (tenant_id, key) on delete cascade
);

-- What has arrived at the service: the parts of a delivery that are not sent again, and questions that are edited when
-- they are decided. A press names the delivery.
create table channel_posts (
  tenant_id   text not null,
  delivery_id text not null,
  part        int not null,
  channel_key text not null,
  -- Empty while it is being sent.
  message_id  text not null,
  place       jsonb not null,
  -- For the part with the buttons, the approval, and the call as it was shown.
  approval_id text,
  digest      text,
  created_at  timestamptz not null default now(),
  primary key (tenant_id, delivery_id, part),
  foreign key (tenant_id, delivery_id) references webhook_deliveries (tenant_id, id) on delete cascade
);
-- Part -1 is a message that grows while an answer is written (features/channels/store/growing-post-store.ts).
create index channel_posts_growing on channel_posts (tenant_id, channel_key) where part < 0;
create index channel_posts_of_approval on channel_posts (tenant_id, approval_id) where approval_id is not null;
