/**
 * Watches the approvals of all sessions as they come and go, and handles them one at a time. The feed sends each again
 * whenever it changes. An approval that is decided elsewhere is withdrawn, and an edited one is handled anew.
 */
import { CliError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import { followFeed } from '#cli/follow.ts';
import type { Approval } from '#cli/wire.ts';

export interface ApprovalWatchOptions {
  readonly client: Client;
  /** `gone` aborts when the approval is over or has become another call. */
  readonly handle: (approval: Approval, gone: AbortSignal) => Promise<void>;
  readonly onConnection: (reason: string | undefined) => void;
}

/** Ends only by rejecting: with what `handle` throws, or because the feed cannot be followed. */
export async function watchApprovals({ client, handle, onConnection }: ApprovalWatchOptions): Promise<void> {
  const closing = new AbortController();
  const failed = Promise.withResolvers<never>();
  /** Approvals that are being handled or wait for it, by id, for as long as they are pending. */
  const open = new Map<string, { readonly digest: string; readonly gone: AbortController }>();
  let last: Promise<void> = Promise.resolve();

  function take(approval: Approval): void {
    const { id, digest, status } = approval;
    const before = open.get(id);
    if (status === 'pending' && before?.digest === digest) return;
    before?.gone.abort();
    open.delete(id);
    if (status !== 'pending') return;
    const gone = new AbortController();
    open.set(id, { digest, gone });
    last = last.then(() => (gone.signal.aborted ? undefined : handle(approval, gone.signal)));
    last.catch(failed.reject);
  }

  async function follow(): Promise<void> {
    const feed = followFeed({ client, signal: closing.signal, onConnection, path: '/v1/approvals/events' });
    for await (const { body } of feed) {
      if (typeof body['id'] !== 'string' || typeof body['status'] !== 'string')
        throw new CliError('The feed of approvals sent something that is no approval.');
      take(body as unknown as Approval);
    }
  }

  try {
    await Promise.race([follow(), failed.promise]);
  } finally {
    // Otherwise, the feed's connection would keep the process alive.
    closing.abort();
  }
}
