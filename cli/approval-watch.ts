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
export async function watchApprovals(options: ApprovalWatchOptions): Promise<void> {
  const { client, handle, onConnection } = options;
  const closing = new AbortController();
  /** Those to be handled, in the order in which they came. */
  const waiting = new Map<string, Approval>();
  /** Which call was handled, by id; no longer than it is pending. */
  const handled = new Map<string, string>();
  let current: { readonly id: string; readonly gone: AbortController } | undefined;
  let news = Promise.withResolvers<void>();

  function take(approval: Approval): void {
    const { id, digest, status } = approval;
    if (status === 'pending' && handled.get(id) === digest) return;
    if (current?.id === id) current.gone.abort();
    handled.delete(id);
    waiting.delete(id);
    if (status !== 'pending') return;
    handled.set(id, digest);
    waiting.set(id, approval);
    news.resolve();
  }

  async function follow(): Promise<void> {
    const feed = followFeed({ client, signal: closing.signal, onConnection, path: '/v1/approvals/events' });
    for await (const { body } of feed) {
      if (typeof body['id'] !== 'string' || typeof body['status'] !== 'string')
        throw new CliError('The feed of approvals sent something that is no approval.');
      take(body as unknown as Approval);
    }
  }

  async function handleAll(): Promise<void> {
    for (;;) {
      const [next] = waiting.values();
      if (next === undefined) {
        await news.promise;
        news = Promise.withResolvers();
        continue;
      }
      waiting.delete(next.id);
      current = { id: next.id, gone: new AbortController() };
      await handle(next, current.gone.signal);
      current = undefined;
    }
  }

  try {
    await Promise.race([follow(), handleAll()]);
  } finally {
    // Else the feed's connection would keep the process alive.
    closing.abort();
  }
}
