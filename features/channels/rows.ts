/** What the core must know about the rows of channels. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import type { RowPart } from '#store/row-parts.ts';

/** The maker of the links in a channel's messages; they work while their user may decide there, or may log in. */
export function channelLinkMaker(key: string): string {
  return `channel ${key}`;
}

export const rowPart: RowPart = {
  // Codes that are no longer valid.
  oldRows: [{ table: 'channel_pairings', isOld: isOlder('created_at', 1) }],
  isLinkOver: sql`l.created_by like 'channel %' and not exists (select from channel_people p
    join channels c on c.tenant_id = p.tenant_id and c.key = p.channel_key
    join webhooks w on w.tenant_id = c.tenant_id and w.id = c.webhook_id and w.enabled
    where p.tenant_id = l.tenant_id and ${channelLinkMaker('')} || p.channel_key = l.created_by and p.user_id = l.user_id
      and (p.may_decide or exists (select from approvals a
        where a.tenant_id = l.tenant_id and a.id = l.approval_id and a.form ? 'login')))`,
  ofUser: ({ own }) => ({ before: [{ table: 'channel_people', where: own }] }),
};
