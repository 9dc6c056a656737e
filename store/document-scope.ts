/** Which rows of documents, and of what is made of them, are whose. */
import { sql } from 'kysely';
import type { DocumentScope } from '#domain/document.ts';

/** The owner's own. */
export function isOwn({ tenant, agent, user }: DocumentScope) {
  return sql`tenant_id = ${tenant} and agent_key = ${agent} and user_id = ${user ?? ''}`;
}

/** Of documents `d`: what is memory and searched. As the partial indexes of the schema have it. */
export const IS_MEMORY = sql`(d.path in ('MEMORY.md', 'memory.md') or d.path like 'memory/%.md')`;
