-- Up Migration
-- Hooks that are written in TypeScript and run by the program of the tools: what they are, as the program has registered them.
alter table tool_hosts add column hooks jsonb not null default '[]';
