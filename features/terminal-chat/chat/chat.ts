/** The session behind a chat: it sends messages, shows the feed, and asks about approvals. */
import type { StoredEvent } from '#domain/event.ts';
import { createApprovalPrompter, type ApprovalMode } from '../approvals/approval-prompter.ts';
import { type CommandContext, orMissing, pathOf } from '#cli/command-context.ts';
import { connectionLine, createFeedView, type FeedSink } from '#cli/feed-view.ts';
import { type SessionWatch, watchSession } from '#cli/session-watch.ts';
import type { Approval, MessageReceipt, Page, Session } from '#cli/wire.ts';

/** Where the chat happens: where it prints, and who answers questions. */
export interface ChatPlace {
  readonly sink: FeedSink;
  readonly mode: ApprovalMode;
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onInterrupt: () => void;
  readonly onError: (error: unknown) => void;
}

export interface Chat {
  readonly context: CommandContext;
  readonly sessionKey: string;
  /** Returns undefined before the first message. */
  known(): Promise<Session | undefined>;
  send(text: string): Promise<MessageReceipt>;
  steer(turnId: string, text: string): Promise<void>;
  stop(turnId: string): Promise<void>;
  /** Follows the session from its current state (`known`) or from its beginning; also asks about pending approvals. */
  listen(known: Session | undefined, place: ChatPlace): SessionWatch;
}

export function createChat(context: CommandContext, sessionKey: string, agent: string | undefined): Chat {
  const { client, out } = context;
  const sent = new Set<string>();
  let sending: Promise<unknown> = Promise.resolve();
  const path = (...parts: string[]): string => pathOf('sessions', sessionKey, ...parts);

  function listen(known: Session | undefined, place: ChatPlace): SessionWatch {
    const { sink } = place;
    const show = createFeedView({
      sink,
      output: out,
      answer: true,
      received: (id) => !sent.has(id),
      isPromptedInPlace: place.mode === 'ask',
    });
    const service = createApprovalPrompter({ ...place, client, output: out, say: (line) => sink.line(line) });
    const watch = watchSession({
      client,
      sessionKey,
      after: known?.last_event_id ?? 0,
      running: known?.turn_id,
      onEvent(event: StoredEvent) {
        // Only the receipt shows whether a message is ours, and it may come after the message's event.
        if (event.type === 'message.received') sending.then(() => show(event), place.onError);
        else show(event);
        service.take(event);
      },
      onConnection: (reason) => sink.line(connectionLine(out, reason)),
    });
    if (known?.status === 'waiting_approval') askOpen().catch(place.onError);

    /** Asks about approvals that were requested before the feed is followed. */
    async function askOpen(): Promise<void> {
      const query = { status: 'pending', session_key: sessionKey, limit: 200 };
      const { data } = await client.get<Page<Approval>>(pathOf('approvals'), query);
      for (const { id, turn_id: turnId } of data) service.ask(id, turnId);
    }

    return {
      ...watch,
      close() {
        service.close();
        watch.close();
      },
    };
  }

  function say(to: string, body: Readonly<Record<string, unknown>>): Promise<MessageReceipt> {
    const receipt = client.post<MessageReceipt>(to, body);
    const noted = receipt.then(
      ({ message_id: id }) => void sent.add(id),
      // The sender gets this error; here it only means that no message of ours will come.
      () => undefined,
    );
    sending = Promise.all([sending, noted]);
    return receipt;
  }

  return {
    context,
    sessionKey,
    listen,
    known: () => orMissing(client.get<Session>(path())),
    send: (text) => say(path('messages'), { text, agent: agent || undefined }),
    async steer(turnId, text) {
      await say(path('steer'), { text, turn_id: turnId });
    },
    stop: (turnId) => client.post(path('stop'), { level: 'now', turn_id: turnId }),
  };
}
