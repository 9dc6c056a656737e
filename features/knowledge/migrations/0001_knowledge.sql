-- Up Migration
-- The knowledge graph: what a model has extracted from memory, with the same owners.

-- Parts of documents that were read for facts, by the digest of their text: an unchanged part is not read again.
create table knowledge_parts (
  tenant_id text not null,
  agent_key text not null,
  user_id   text not null,
  path      text not null,
  digest    bytea not null,
  -- Its first line in the current document, from 1.
  from_line int not null,
  -- Revision of the document when it was read.
  revision  int not null,
  primary key (tenant_id, agent_key, user_id, path, digest),
  foreign key (tenant_id, agent_key, user_id, path) references documents on delete cascade
);

-- An entity exists as long as a fact names it.
create table knowledge_entities (
  tenant_id  text not null,
  id         bigint not null generated always as identity,
  agent_key  text not null,
  user_id    text not null,
  name       text not null,
  type       text not null,
  -- Somebody has removed it, whatever documents say.
  hidden     boolean not null default false,
  -- Who corrected it last.
  changed_by text,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, agent_key) references agents (tenant_id, key)
);
create index knowledge_entities_by_owner on knowledge_entities (tenant_id, agent_key, user_id, id);

-- Its name and its aliases: entities of a type that share one of them are the same.
create table knowledge_names (
  tenant_id text not null,
  agent_key text not null,
  user_id   text not null,
  type      text not null,
  -- The name in lower case.
  key       text not null,
  name      text not null,
  entity_id bigint not null,
  -- An external document has added it.
  outside   boolean not null,
  words     tsvector not null generated always as (to_tsvector('simple', name)) stored,
  primary key (tenant_id, agent_key, user_id, type, key),
  foreign key (tenant_id, entity_id) references knowledge_entities on delete cascade
);
create index knowledge_names_by_entity on knowledge_names (tenant_id, entity_id);
create index knowledge_names_by_word on knowledge_names using gin (words);
create index knowledge_names_by_part on knowledge_names using gin (name gin_trgm_ops);

-- Entities that somebody has merged into another one, with what was theirs, so that the merge can be undone.
create table knowledge_merges (
  tenant_id text not null,
  -- The id of the entity that is gone.
  id        bigint not null,
  agent_key text not null,
  user_id   text not null,
  into_id   bigint not null,
  name      text not null,
  type      text not null,
  hidden    boolean not null,
  -- Keys of its names.
  names     text[] not null,
  -- Facts that it was at the beginning and at the end of, and those that the merge removed, unchanged.
  from_facts bigint[] not null,
  to_facts  bigint[] not null,
  removed   jsonb not null,
  -- Entities that had been merged into it before.
  merged    bigint[] not null,
  -- The tenant's newest fact then: later ones of its documents were extracted as those of the entity that stays.
  last_fact bigint not null,
  by        text not null,
  at        timestamptz not null default now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, into_id) references knowledge_entities on delete cascade
);
create index knowledge_merges_by_into on knowledge_merges (tenant_id, into_id);

-- What a document or a person states. Which fact ends another is decided when they are read, so that removing its
-- document undoes it.
create table knowledge_facts (
  tenant_id  text not null,
  -- A later fact has a greater one.
  id         bigint not null generated always as identity,
  agent_key  text not null,
  user_id    text not null,
  from_id    bigint not null,
  -- Null means only that a document names the entity; then `to_id` is null too.
  type       text,
  to_id      bigint,
  valid_from timestamptz not null,
  valid_to   timestamptz,
  -- The entity has only one such relation at a time: a later one ends this one.
  is_single  boolean not null default false,
  -- Where it is stated; null for a person's statement. Lines count from the part's first, which is 0.
  path       text,
  part       bytea,
  line       int,
  to_line    int,
  -- Who stated it, if a person.
  author     text,
  -- The person states that it is not so.
  denied     boolean not null default false,
  -- Not shown: it is denied, a document's statement that a person has overruled, or of a hidden entity.
  overruled  boolean not null default false,
  primary key (tenant_id, id),
  foreign key (tenant_id, from_id) references knowledge_entities on delete cascade,
  foreign key (tenant_id, to_id) references knowledge_entities on delete cascade,
  foreign key (tenant_id, agent_key, user_id, path, part) references knowledge_parts on delete cascade
);
create index knowledge_facts_from on knowledge_facts (tenant_id, from_id, type);
create index knowledge_facts_to on knowledge_facts (tenant_id, to_id);
create index knowledge_facts_by_part on knowledge_facts (tenant_id, agent_key, user_id, path, part);
create unique index knowledge_facts_of_people on knowledge_facts (tenant_id, from_id, type, to_id) where author is not null;
