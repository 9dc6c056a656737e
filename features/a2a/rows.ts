/** What the core must know of push notifications: they go with their session. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';
import { PUSH } from './push-target.ts';

export const rowPart: RowPart = {
  // The rows of tasks go with these.
  ofSession: ({ own }) => [{ table: 'webhooks', where: sql`${own} and starts_with(url, ${PUSH})` }],
};
