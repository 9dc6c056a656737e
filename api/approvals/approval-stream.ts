/**
 * One reader of the approvals of all sessions. It gets the pending ones, and then each approval again whenever it
 * changes. A frame is the approval as it is at that time. A frame that comes twice therefore does no harm, and the next
 * frame makes up for a skipped one.
 */
import {
  type ApprovalFilter,
  type ChangedApproval,
  listChangedApprovals,
  readChangeClock,
} from '#store/approvals/approval-store.ts';
import type { Viewer } from '#store/approvals/approval-visibility.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApprovalWatch } from './approval-watch.ts';
import type { SseSource } from '../server/sse-stream.ts';

const PAGE = 200;
/**
 * Microseconds for which a sent change is remembered. This is longer than changes are read again (COMMIT_LAG of the
 * store).
 */
const REMEMBER = 60_000_000;

export interface ApprovalStreamOptions {
  readonly tenant: string;
  readonly viewer: Viewer;
  readonly filter: ApprovalFilter;
  /** The id of the last frame that the reader has. Without it, the stream begins with the pending approvals. */
  readonly after: number | undefined;
  readonly show: (row: ChangedApproval) => unknown;
}

export function approvalSource(
  { pool, watch }: Pick<ApiDeps, 'pool'> & { readonly watch: ApprovalWatch },
  { tenant, viewer, filter, after, show }: ApprovalStreamOptions,
): SseSource {
  /** The change of each approval that was sent last, by the approval's id. */
  const sent = new Map<string, number>();
  let since = after;
  /** When the reader that requested the pending approvals connected. */
  let received = 0;
  /** True if the approval ended before the reader connected, and the reader never received it. */
  const isOldNews = (row: ChangedApproval): boolean =>
    row.changed <= received && row.status !== 'pending' && !sent.has(row.id);

  async function send(
    [write, signal]: Parameters<SseSource['sendNew']>,
    from: number,
    which: ApprovalFilter,
  ): Promise<number> {
    let newest = from;
    for (let page: readonly [number, string] | undefined; !signal.aborted; ) {
      const rows = await listChangedApprovals(
        forTenant(pool, tenant),
        viewer,
        { since: from, page },
        which,
        PAGE,
      );
      for (const row of rows) {
        page = [row.changed, row.id];
        newest = Math.max(newest, row.changed);
        if (sent.get(row.id) === row.changed || isOldNews(row)) continue;
        await write(`id: ${row.changed}\nevent: approval\ndata: ${JSON.stringify(show(row))}\n\n`);
        sent.set(row.id, row.changed);
      }
      if (rows.length < PAGE) break;
    }
    return newest;
  }

  return {
    subscribe: (wake) => watch.subscribe(tenant, wake),
    async sendNew(...reader) {
      if (since === undefined) {
        // Anything that changes while the pending ones are read has a later time than this.
        received = await readChangeClock(pool);
        since = received;
        await send(reader, 0, { ...filter, status: 'pending' });
      }
      since = await send(reader, since, filter);
      for (const [id, changed] of sent) if (changed < since - REMEMBER) sent.delete(id);
    },
  };
}
