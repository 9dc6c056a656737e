/** What the core must know about the rows of conversations: how long they are kept, and with which session they go. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

/** A conversation that its client continues later begins a new session, with the messages that the client sends. */
const KEPT_DAYS = 30;

export const rowPart: RowPart = {
  oldRows: [{ table: 'openai_conversations', isOld: isOlder('created_at', KEPT_DAYS) }],
  ofSession: ({ own }) => [{ table: 'openai_conversations', where: sql`${own}` }],
};
