/** What the core must know of remote tasks: with which session they go, and how long they are kept. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

/** A remote agent that waits for an answer longer has most likely given up. */
const KEPT_DAYS = 30;

export const rowPart: RowPart = {
  oldRows: [{ table: 'remote_agent_tasks', isOld: isOlder('created_at', KEPT_DAYS) }],
  ofSession: ({ own }) => [{ table: 'remote_agent_tasks', where: sql`${own}` }],
};
