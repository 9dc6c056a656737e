-- Up Migration
create table memory_chunks (
  tenant_id text not null,
  agent_key text not null,
  user_id   text not null,
  path      text not null,
  -- Within its document, from 0.
  n         int not null,
  -- From 1, both included.
  from_line int not null,
  to_line   int not null,
  -- The headings that it stands below, the outermost first.
  heading   text not null,
  text      text not null,
  -- Words of path and heading, and of the text, a line for each sentence (domain/search-terms.ts).
  above     text not null,
  terms     text not null,
  words     tsvector not null generated always as (
    setweight(to_tsvector('english', above), 'A') || to_tsvector('english', terms)) stored,
  -- Its longer words with each letter left out: by these a word with a slip of the pen is found.
  slips     tsvector not null,
  primary key (tenant_id, agent_key, user_id, path, n),
  foreign key (tenant_id, agent_key, user_id, path) references documents on delete cascade
);
create index memory_chunks_by_word on memory_chunks using gin (words);
create index memory_chunks_by_slip on memory_chunks using gin (slips);

-- Apart from the pieces, so that a look at all of a scope's reads little.
create table memory_vectors (
  tenant_id text not null,
  agent_key text not null,
  user_id   text not null,
  path      text not null,
  n         int not null,
  -- Those of different models are never compared.
  model     text not null,
  -- Of each number of the vector whether it is above 0: pieces alike in most of these are looked at closer.
  signs     bit varying not null,
  -- 16-bit floats, little-endian, of length 1.
  vector    bytea not null,
  primary key (tenant_id, agent_key, user_id, path, n),
  foreign key (tenant_id, agent_key, user_id, path, n) references memory_chunks on delete cascade
);
alter table memory_vectors alter column vector set storage external;
