/**
 * The approvals of all sessions as they come and go, one at a time to whoever handles them. The feed gives each again
 * whenever it changes: what is decided elsewhere is taken back, and what is edited is handled anew.
 */
import { CliError } from './cli-error.ts';
import type { Client } from './client.ts';
import { followFeed } from './follow.ts';
import type { Approval } from './wire.ts';

export interface ApprovalWatchOptions {
  readonly client: Client;
  /** `gone` aborts when it is over or another call by now. */
  readonly handle: (approval: Approval, gone: AbortSignal) => Promise<void>;
  readonly onConnection: (reason: string | undefined) => void;
}

/** Ends by rejecting only: with what `handle` throws, or since the feed cannot be followed. */
export async function watchApprovals({ client, handle, onConnection }: ApprovalWatchOptions): Promise<void> {
  const closing = new AbortController();
  const failed = Promise.withResolvers<never>();
  /** What is handled or waits for it, by id; no longer than it is pending. */
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
    // Else the feed's connection would keep the process alive.
    closing.abort();
  }
}
