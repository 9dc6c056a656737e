/** Conditions on rows of documents and of data derived from them, by owner. */
import { sql } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';

/** Documents of the owner itself. */
export function isOwn({ tenant, agent, user }: DocumentScope) {
  return sql`tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''}`;
}

/** Condition on documents `d` that are memory and searched, as the partial indexes of the schema have it. */
export const IS_MEMORY = sql`(d.path in ('MEMORY.md', 'memory.md') or d.path like 'memory/%.md')`;
