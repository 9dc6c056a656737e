/** A session as an editor has it open: it sends prompts, and shows the editor what happens, whoever began it. */
import {
  type FileSystemCapabilities,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { orMissing, pathOf } from '#cli/command-context.ts';
import type { Message, MessageReceipt, Page, Session, Turn } from '#cli/wire.ts';
import { linkedArtifacts } from '#domain/files/linked-artifacts.ts';
import { editorTools } from './editor-files.ts';
import type { EditorPrompt } from './read-prompt.ts';
import type { SessionContext } from './session-approvals.ts';
import { createSessionFeed } from './session-feed.ts';
import { uploadFiles } from './session-files.ts';

/** The channel of sessions that editors begin; their chat is the folder. */
export const CHANNEL = 'acp';
/** Characters that a chat's id may have. */
const MAX_CHAT = 200;
const PAGE = 200;
/** Messages that an editor gets when it opens a session again: the newest. */
const MAX_REPLAYED = 1_000;
/** Files of their answers. */
const MAX_REPLAYED_FILES = 20;

export interface EditorSession {
  readonly key: string;
  /** Chosen until the first message. */
  agent: string;
  /** Whether the API has the session. */
  exists(): boolean;
  prompt(prompt: EditorPrompt, signal: AbortSignal): Promise<StopReason>;
  /** Stops the turns of prompts that are not answered. */
  cancel(): Promise<void>;
  /** Shows what was said before. */
  replay(): Promise<void>;
  /** Follows a session that the API has. */
  follow(known: Session): void;
  close(): void;
}

export interface EditorSessionOptions extends SessionContext {
  readonly fs: FileSystemCapabilities | undefined;
  readonly agent: string;
}

interface OpenPrompt {
  turn?: string;
  isCancelled: boolean;
}

export function createEditorSession(options: EditorSessionOptions): EditorSession {
  const { client, fs, place } = options;
  const { sessionId: key, folder } = place;
  const path = (...parts: string[]): string => pathOf('sessions', key, ...parts);
  const feed = createSessionFeed(options);
  const prompts = new Set<OpenPrompt>();

  async function stop(turn: string): Promise<void> {
    // A turn that has ended meanwhile needs no stop.
    await client.post(path('stop'), { level: 'now', turn_id: turn }).catch(() => undefined);
  }

  async function cancel(prompt: OpenPrompt): Promise<void> {
    prompt.isCancelled = true;
    if (prompt.turn !== undefined) await stop(prompt.turn);
  }

  function send(text: string, attachments: readonly string[]): Promise<MessageReceipt> {
    const tools = editorTools(fs, folder);
    return client.post<MessageReceipt>(path('messages'), {
      text,
      agent: session.agent,
      channel: CHANNEL,
      ...(folder.length <= MAX_CHAT && { chat_id: folder }),
      ...(tools.length > 0 && { client_tools: tools }),
      ...(attachments.length > 0 && { attachments }),
    });
  }

  const session: EditorSession = {
    key,
    agent: options.agent,
    exists: feed.isFollowed,
    follow: feed.follow,
    close: feed.close,
    async prompt({ text, files }, signal) {
      const prompt: OpenPrompt = { isCancelled: false };
      const onAbort = (): void => void cancel(prompt);
      signal.addEventListener('abort', onAbort);
      prompts.add(prompt);
      try {
        const known = feed.isFollowed() ? undefined : await orMissing(client.get<Session>(path()));
        const attachments = await uploadFiles(client, files);
        if (prompt.isCancelled) return 'cancelled';
        const { turn_id: turn } = await send(text, attachments);
        feed.follow(known);
        prompt.turn = turn;
        if (prompt.isCancelled) await stop(turn);
        const end = await feed.end(turn);
        if (end === 'failed') throw failure(await client.get<Turn>(pathOf('turns', turn)));
        return end === 'stopped' ? 'cancelled' : 'end_turn';
      } finally {
        prompts.delete(prompt);
        signal.removeEventListener('abort', onAbort);
      }
    },
    async cancel() {
      await Promise.all([...prompts].map(cancel));
    },
    async replay() {
      const messages: Message[] = [];
      let after: string | undefined;
      do {
        const query = { order: 'desc', limit: PAGE, after };
        const page = await client.get<Page<Message>>(path('messages'), query);
        messages.push(...page.data);
        after = page.next_cursor ?? undefined;
      } while (after !== undefined && messages.length < MAX_REPLAYED);
      const withFiles = newestWithFiles(messages);
      for (const message of messages.toReversed()) {
        await feed.show(replayed(message));
        if (withFiles.has(message.id)) await feed.showFiles(`${message.id}.files`, message.text);
      }
    },
  };
  return session;
}

/** Of messages from the newest to the oldest, the ids of those whose files are shown again. */
function newestWithFiles(messages: readonly Message[]): ReadonlySet<string> {
  const found = new Set<string>();
  let remaining = MAX_REPLAYED_FILES;
  for (const { id, role, text } of messages) {
    const { ids } = linkedArtifacts(role === 'user' ? '' : text);
    remaining -= ids.length;
    if (remaining < 0) break;
    if (ids.length > 0) found.add(id);
  }
  return found;
}

function replayed({ id, role, text }: Message): SessionUpdate[] {
  if (text === '') return [];
  const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
  return [{ sessionUpdate, messageId: id, content: { type: 'text', text } }];
}

function failure({ error }: Turn): RequestError {
  const { code, message } = error ?? { code: 'Failed', message: 'The turn failed' };
  return RequestError.internalError({ code }, `${code}: ${message}`);
}
