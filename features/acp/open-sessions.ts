/** The sessions that an editor has open. */
import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import {
  type AgentContext,
  type FileSystemCapabilities,
  RequestError,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { Client } from '#cli/client.ts';
import { orMissing, pathOf } from '#cli/command-context.ts';
import type { Agent, Page, Session } from '#cli/wire.ts';
import { CHANNEL, createEditorSession, type EditorSession } from './editor-session.ts';

export interface EditorOptions {
  readonly client: Client;
  readonly defaultAgent: string;
  readonly warn: (line: string) => void;
}

/** What the editor can do, and how it is reached. */
export interface Editor {
  readonly context: AgentContext;
  readonly fs: FileSystemCapabilities | undefined;
}

/** Each has a stream. */
const MAX_OPEN = 100;
const MAX_FOLDER = 4_096;
const PAGE = 200;

export function createOpenSessions({ client, defaultAgent, warn }: EditorOptions) {
  const open = new Map<string, EditorSession>();

  function add({ context, fs }: Editor, key: string, folder: string, agent: string): EditorSession {
    if (!isAbsolute(folder) || folder.length > MAX_FOLDER)
      throw refused(`cwd must be an absolute path of at most ${MAX_FOLDER} characters`);
    open.get(key)?.close();
    open.delete(key);
    if (open.size >= MAX_OPEN) throw refused(`at most ${MAX_OPEN} sessions are open at once; close one`);
    const place = { sessionId: key, folder };
    const session = createEditorSession({ client, editor: context, fs, warn, place, agent });
    open.set(key, session);
    return session;
  }

  function find(key: string): EditorSession {
    const session = open.get(key);
    if (!session) throw RequestError.sessionNotFound(key);
    return session;
  }

  /** The agents; a session keeps the one that it began with. */
  async function modesOf(current: string): Promise<SessionModeState> {
    const { data } = await client.get<Page<Agent>>(pathOf('agents'), { limit: PAGE });
    const keys = new Set([current, ...data.map(({ key }) => key)]);
    return { currentModeId: current, availableModes: [...keys].map((id) => ({ id, name: id })) };
  }

  return {
    find,
    async begin(editor: Editor, folder: string) {
      const modes = await modesOf(defaultAgent);
      const { key } = add(editor, `acp-${randomUUID()}`, folder, defaultAgent);
      return { sessionId: key, modes };
    },
    async reopen(editor: Editor, key: string, folder: string, isReplayed: boolean) {
      const known = await orMissing(client.get<Session>(pathOf('sessions', key)));
      if (!known) throw RequestError.sessionNotFound(key);
      const modes = await modesOf(known.agent);
      const session = add(editor, key, folder, known.agent);
      if (isReplayed) await session.replay();
      session.follow(known);
      return { modes };
    },
    async chooseAgent(key: string, agent: string): Promise<void> {
      const session = find(key);
      if (session.agent === agent) return;
      if (session.exists())
        throw refused(`the session belongs to the agent ${session.agent}; begin another one for ${agent}`);
      if (!(await orMissing(client.get(pathOf('agents', agent)))))
        throw refused(`there is no agent ${agent}`);
      session.agent = agent;
    },
    /** Those that editors began, in the folder or in any. */
    async list(folder: string | undefined, cursor: string | undefined) {
      const query = { channel: CHANNEL, limit: PAGE, after: cursor };
      const { data, next_cursor: nextCursor } = await client.get<Page<Session>>(pathOf('sessions'), query);
      const sessions = data.map(({ key, chat_id, title, updated_at }) => ({
        sessionId: key,
        cwd: chat_id ?? process.cwd(),
        title,
        updatedAt: updated_at,
      }));
      return { sessions: sessions.filter(({ cwd }) => folder === undefined || cwd === folder), nextCursor };
    },
    async cancel(key: string): Promise<void> {
      await open.get(key)?.cancel();
    },
    async close(key: string): Promise<void> {
      const session = find(key);
      await session.cancel();
      session.close();
      open.delete(key);
    },
    closeAll(): void {
      for (const session of open.values()) session.close();
    },
  };
}

function refused(problem: string): RequestError {
  return RequestError.invalidParams(undefined, problem);
}
