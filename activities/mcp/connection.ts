/**
 * The worker's connection to one MCP server (MC-1): made when somebody needs it, shared by all, made again when it is lost – after 2 s, then
 * twice as long up to a minute, ten times, then not for five minutes. What the server lists is recorded each time.
 */
import { ProtocolError } from '@modelcontextprotocol/client';
import { createBackoff, type Timing } from './backoff.ts';
import type { McpStatus } from '#domain/mcp/server.ts';
import type { ListedTool } from '#store/mcp-tool-store.ts';
import { McpAway } from './mcp-away.ts';
import { type Heard, type OpenServer, wordsOf } from './open-server.ts';

const PING_MS = 10_000;

export interface LiveServer extends OpenServer {
  /** By the server's name of each tool, as it was listed last. */
  readonly hashes: ReadonlyMap<string, string>;
}

type Mode = 'auto' | 'legacy';

export interface ConnectionParts {
  readonly name: string;
  readonly timing: Timing;
  readonly open: (heard: Heard, mode: Mode) => Promise<OpenServer>;
  /** Throws when it may not be opened now. */
  readonly mayOpen: () => void;
  readonly recordListed: (tools: readonly ListedTool[]) => Promise<void>;
  readonly recordStatus: (status: McpStatus, error: string | null) => Promise<void>;
}

export interface Connection {
  /** Connects when it must. @throws McpAway */
  use<Result>(work: (live: LiveServer) => Promise<Result>): Promise<Result>;
  /** Has the tools listed and recorded anew. @throws McpAway */
  relist(): Promise<void>;
  /** Whether it still answers; a lost one is made again. Never throws. */
  lookAfter(): Promise<void>;
  readonly isBusy: () => boolean;
  readonly lastUse: () => number;
  close(): Promise<void>;
}

export function createConnection(parts: ConnectionParts): Connection {
  const { name } = parts;
  const backoff = createBackoff(parts.timing);
  let live: LiveServer | undefined;
  let opening: Promise<LiveServer> | undefined;
  let problem = '';
  let isClosed = false;
  let uses = 0;
  let lastUse = Date.now();
  // A program may end when it is asked for the newest revision: then it is not, unless it has ever spoken it.
  let mode: Mode = 'auto';
  let isSettled = false;

  async function open(): Promise<LiveServer> {
    let opened: OpenServer | undefined;
    try {
      parts.mayOpen();
      opened = await parts.open({ onClosed: () => void lose('the connection ended'), onToolsChanged }, mode);
      const hashes = await listInto(parts, opened);
      if (isClosed) throw new Error('it was changed or switched off meanwhile');
      live = { ...opened, hashes };
      isSettled = true;
      backoff.opened();
      opening = undefined;
      return live;
    } catch (error) {
      await opened?.end();
      if (!isSettled) mode = mode === 'auto' ? 'legacy' : 'auto';
      // Before the next attempt is set, which must not take this one for its own.
      opening = undefined;
      await fail(wordsOf(error));
      throw away();
    }
  }

  async function relist(): Promise<void> {
    const wasLive = live;
    const server = await connected();
    // Else it was listed a moment ago.
    if (server !== wasLive) return;
    try {
      const hashes = await listInto(parts, server);
      if (live === server) live = { ...server, hashes };
    } catch (error) {
      await lose(wordsOf(error));
      throw away();
    }
  }

  // A list that cannot be read has ended the connection.
  const onToolsChanged = (): void => void relist().catch(() => undefined);

  async function lose(why: string): Promise<void> {
    const lost = live;
    if (!lost || isClosed) return;
    live = undefined;
    await fail(why);
    await lost.end();
  }

  async function fail(why: string): Promise<void> {
    if (isClosed) return;
    problem = why;
    // Not by `connected`, which may find that a moment is left: clocks and timers round.
    const isOver = backoff.failed(() => void (live ?? reopen().catch(() => undefined)));
    // Nothing depends on it but what people see.
    await parts.recordStatus(isOver ? 'failed' : 'degraded', why).catch(() => undefined);
  }

  const away = (): McpAway => new McpAway(awayWords(name, problem, backoff.waitMs()));

  async function connected(): Promise<LiveServer> {
    if (isClosed) throw new McpAway(`the MCP server ${name} was changed or switched off; call again`);
    if (live) return live;
    if (!opening && backoff.waitMs() > 0) throw away();
    return reopen();
  }

  const reopen = (): Promise<LiveServer> => (opening ??= open());

  async function lookAfter(): Promise<void> {
    const looked = live;
    // One that works at something may be too busy to answer.
    if (!looked || uses > 0) return;
    const problem = await pingProblem(looked);
    if (problem !== undefined && live === looked) await lose(problem);
  }

  return {
    async use(work) {
      uses += 1;
      let isWhole = false;
      try {
        const result = await work(await connected());
        isWhole = true;
        return result;
      } finally {
        uses -= 1;
        lastUse = Date.now();
        // A server over HTTP that has started anew does not know us any more.
        if (!isWhole) void lookAfter();
      }
    },
    relist,
    lookAfter,
    isBusy: () => uses > 0,
    lastUse: () => lastUse,
    async close() {
      isClosed = true;
      backoff.end();
      const ending = live;
      live = undefined;
      await ending?.end();
      // Ends itself, seeing that it is closed.
      await opening?.catch(() => undefined);
    },
  };
}

/** Hashes by the server's name of each tool. */
async function listInto(
  { recordListed }: ConnectionParts,
  server: OpenServer,
): Promise<ReadonlyMap<string, string>> {
  const tools = await server.list();
  await recordListed(tools);
  return new Map(tools.map(({ definition, hash }) => [definition.name, hash]));
}

function awayWords(name: string, problem: string, waitMs: number): string {
  const when = waitMs > 0 ? `; it is tried again in ${Math.ceil(waitMs / 1000)} s` : '';
  return `the MCP server ${name} is disconnected: ${problem}${when}`;
}

/** Why it is not there any more; undefined when it answers, if only that it knows no ping. */
async function pingProblem({ client }: LiveServer): Promise<string | undefined> {
  try {
    await client.ping({ timeout: PING_MS });
    return undefined;
  } catch (error) {
    return error instanceof ProtocolError ? undefined : wordsOf(error);
  }
}
