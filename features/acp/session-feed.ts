/** What happens in a session, shown to the editor in order, and its approvals handled there. */
import { methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import { pathOf } from '#cli/command-context.ts';
import { type EndStatus, type SessionWatch, watchSession } from '#cli/session-watch.ts';
import type { Approval, Page, Session } from '#cli/wire.ts';
import type { StoredEvent } from '#domain/event.ts';
import { createSessionApprovals, type Edits, type SessionContext } from './session-approvals.ts';
import { answerFiles } from './session-files.ts';
import { createSessionUpdates } from './session-updates.ts';

export interface SessionFeed {
  isFollowed(): boolean;
  /** Follows the session, which the API has, from its current state (`known`) or from its beginning. */
  follow(known: Session | undefined): void;
  /** Resolves when the turn has ended and the editor has all of it, or as stopped when the session is closed. */
  end(turn: string): Promise<EndStatus>;
  show(updates: readonly SessionUpdate[]): Promise<void>;
  /** Shows the files that a text links, as a message of this id. */
  showFiles(messageId: string, text: string): Promise<void>;
  close(): void;
}

const MAX_PENDING = 200;

export function createSessionFeed(context: SessionContext): SessionFeed {
  const { client, editor, place, warn } = context;
  const { sessionId } = place;
  const edits: Edits = new Map();
  const approvals = createSessionApprovals(context, edits);
  const updatesOf = createSessionUpdates(edits);
  const closed = Promise.withResolvers<EndStatus>();
  let watch: SessionWatch | undefined;
  /** Updates are sent in order, so the last one comes after all others. */
  let shown: Promise<void> = Promise.resolve();
  let files: Promise<void> = Promise.resolve();

  function show(updates: readonly SessionUpdate[]): Promise<void> {
    // The command ends when its connection is closed.
    for (const update of updates)
      shown = editor.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);
    return shown;
  }

  /** Files that cannot be read are in the text, as links. */
  async function showFiles(messageId: string, text: string): Promise<void> {
    try {
      const blocks = await answerFiles(client, text);
      await show(blocks.map((content) => ({ sessionUpdate: 'agent_message_chunk', messageId, content })));
    } catch (error) {
      warn(`files of ${sessionId}: ${String(error)}`);
    }
  }

  /** The files of an answer come after its text. */
  function showFilesOf({ turn_id: turn, data }: StoredEvent): void {
    const text = typeof data['text'] === 'string' ? data['text'] : '';
    files = files.then(() => showFiles(`${turn}.${String(data['step'])}.files`, text));
  }

  /** Those that were requested before the feed is followed. */
  async function handlePending(): Promise<void> {
    const query = { status: 'pending', session_key: sessionId, limit: MAX_PENDING };
    const { data } = await client.get<Page<Approval>>(pathOf('approvals'), query);
    for (const { id, turn_id: turn } of data) approvals.handle(id, turn);
  }

  return {
    show,
    showFiles,
    isFollowed: () => watch !== undefined,
    follow(known) {
      watch ??= watchSession({
        client,
        sessionKey: sessionId,
        after: known?.last_event_id ?? 0,
        running: known?.turn_id,
        onEvent(event) {
          void show(updatesOf(event));
          approvals.take(event);
          if (event.type === 'message.completed') showFilesOf(event);
        },
        onConnection: (reason) => reason !== undefined && warn(`${sessionId}: ${reason}`),
      });
      if (known?.status === 'waiting_approval')
        handlePending().catch((error: unknown) => warn(`${sessionId}: ${String(error)}`));
    },
    async end(turn) {
      try {
        const end = await Promise.race([watch?.end(turn) ?? closed.promise, closed.promise]);
        await files;
        await shown;
        return end;
      } catch (error) {
        // A feed that cannot be followed any more is opened anew by the next prompt.
        watch?.close();
        watch = undefined;
        throw error;
      }
    },
    close() {
      approvals.close();
      watch?.close();
      closed.resolve('stopped');
    },
  };
}
