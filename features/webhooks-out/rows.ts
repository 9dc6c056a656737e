/** What the core must know about the rows of webhooks. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

/** The maker of the links in a webhook's mails; they work while it is on and its mails go to that user. */
export function webhookLinkMaker(webhook: string): string {
  return `webhook ${webhook}`;
}

export const rowPart: RowPart = {
  moved: {
    underWay: [
      {
        what: 'deliveries of webhooks that are being sent',
        table: 'webhook_deliveries',
        where: sql`status = 'pending' and claimed_until > clock_timestamp()`,
      },
    ],
  },
  oldRows: [
    {
      table: 'webhook_deliveries',
      isOld: sql`${isOlder('created_at', 30)} and ${isOlder('ended_at', 30)}`,
    },
  ],
  sealedRows: [{ table: 'webhooks', place: `tenant_id || '/webhooks/' || id` }],
  isLinkOver: sql`l.created_by like 'webhook %' and not exists (select from webhooks w
    where w.tenant_id = l.tenant_id and ${webhookLinkMaker('')} || w.id = l.created_by and w.enabled
      and coalesce(w.user_id, substr(w.url, length('mailto:') + 1)) = l.user_id)`,
  ofSession: ({ own, until, turns }) => [
    {
      table: 'webhook_deliveries',
      where: sql`${own} and (post is not null or event_id in (select id from events where ${own} and at <= ${until}
        and (turn_id is null or turn_id in ${turns})))`,
    },
  ],
  ofUser: ({ own }) => ({ before: [{ table: 'webhooks', where: own, counted: 'webhooks' }] }),
};
