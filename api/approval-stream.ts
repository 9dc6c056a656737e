/**
 * One reader of the approvals of all sessions: what waits, and then each approval again whenever it changes. A frame is
 * the approval as it is by then, so that one that comes twice does no harm and one that is skipped is made up by the next.
 */
import {
  type ApprovalFilter,
  type ChangedApproval,
  listChangedApprovals,
  readChangeClock,
} from '#store/approval-store.ts';
import type { Viewer } from '#store/approval-visibility.ts';
import type { ApiDeps } from './deps.ts';
import type { SseSource } from './sse-stream.ts';

const PAGE = 200;
/** How long a lost notice can delay a reader. */
const LOOK_MS = 2_000;
/** Longer than changes are read again (COMMIT_LAG of the store), in microseconds. */
const REMEMBER = 60_000_000;

export interface ApprovalStreamOptions {
  readonly tenant: string;
  readonly viewer: Viewer;
  readonly filter: ApprovalFilter;
  /** The id of the last frame that the reader has; without it begins with what is pending. */
  readonly after: number | undefined;
  readonly show: (row: ChangedApproval) => unknown;
}

export function approvalSource(
  { pool, feed }: Pick<ApiDeps, 'pool' | 'feed'>,
  { tenant, viewer, filter, after, show }: ApprovalStreamOptions,
): SseSource {
  /** What was sent, by id, and of which change. */
  const sent = new Map<string, number>();
  let since = after;
  /** When a reader who asked for what is pending came. */
  let received = 0;
  /** Over before he came, and he has never heard of it. */
  const isOldNews = (row: ChangedApproval): boolean =>
    row.changed <= received && row.status !== 'pending' && !sent.has(row.id);

  async function send(
    [write, signal]: Parameters<SseSource['sendNew']>,
    from: number,
    which: ApprovalFilter,
  ): Promise<number> {
    let newest = from;
    for (let page: readonly [number, string] | undefined; !signal.aborted; ) {
      const rows = await listChangedApprovals(pool, tenant, viewer, { since: from, page }, which, PAGE);
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
    lookMs: LOOK_MS,
    subscribe: (wake) => feed.subscribeAll(tenant, wake),
    async sendNew(...reader) {
      if (since === undefined) {
        // What changes while the pending ones are read is after this.
        received = await readChangeClock(pool);
        since = received;
        await send(reader, 0, { ...filter, status: 'pending' });
      }
      since = await send(reader, since, filter);
      for (const [id, changed] of sent) if (changed < since - REMEMBER) sent.delete(id);
    },
  };
}
