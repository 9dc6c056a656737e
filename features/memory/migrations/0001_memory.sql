-- Up Migration
create table memory_chunks (
  tenant_id text not null,
  agent_key text not null,
  user_id   text not null,
  path      text not null,
  -- Number within its document, from 0.
  n         int not null,
  -- Lines from 1, both inclusive.
  from_line int not null,
  to_line   int not null,
  -- The headings above it, the outermost first.
  heading   text not null,
  text      text not null,
  -- Words of path and heading, and of the text, a line for each sentence (domain/text/search-terms.ts).
  above     text not null,
  terms     text not null,
  words     tsvector not null generated always as (
    setweight(to_tsvector('english', above), 'A') || to_tsvector('english', terms)) stored,
  -- Its longer words with each letter omitted, by which a misspelt word is found.
  slips     tsvector not null,
  primary key (tenant_id, agent_key, user_id, path, n),
  foreign key (tenant_id, agent_key, user_id, path) references documents on delete cascade
);
create index memory_chunks_by_word on memory_chunks using gin (words);
create index memory_chunks_by_slip on memory_chunks using gin (slips);

-- A table apart from the pieces, so that scanning all vectors of a scope reads little.
create table memory_vectors (
  tenant_id text not null,
  agent_key text not null,
  user_id   text not null,
  path      text not null,
  n         int not null,
  -- Vectors of different models are never compared.
  model     text not null,
  -- For each number of the vector, whether it is above 0. Pieces that agree in most of these are compared in full.
  signs     bit varying not null,
  -- 16-bit floats, little-endian, of length 1.
  vector    bytea not null,
  primary key (tenant_id, agent_key, user_id, path, n),
  foreign key (tenant_id, agent_key, user_id, path, n) references memory_chunks on delete cascade
);
alter table memory_vectors alter column vector set storage external;
