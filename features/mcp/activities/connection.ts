/**
 * The worker's connection to one MCP server (MC-1). It is opened when needed and shared by all. After a loss, it is
 * reopened after 2 s, then after twice as long up to a minute, ten times, then not for five minutes. Each time, it
 * records what the server lists.
 */
import type { McpStatus } from '../schema/mcp-server.ts';
import type { ListedTool } from '../store/mcp-tool-store.ts';
import { createBackoff, type Timing } from './backoff.ts';
import { type LoginNeeded, loginNeededIn, McpAway } from './mcp-away.ts';
import { type ServerEvents, type LiveServer, type OpenServer } from './open-server.ts';
import { errorText } from './error-words.ts';
import { createToolList, OPEN_MS } from './tool-list.ts';

type Mode = 'auto' | 'legacy';

export interface ConnectionParts {
  readonly name: string;
  readonly timing: Timing;
  readonly open: (received: ServerEvents, mode: Mode, signal: AbortSignal) => Promise<OpenServer>;
  /** Throws when it may not be opened now. */
  readonly mayOpen: () => void;
  readonly recordListed: (tools: readonly ListedTool[]) => Promise<void>;
  readonly recordStatus: (status: McpStatus, error: string | null) => Promise<void>;
}

export interface Connection {
  /** Connects if necessary. @throws McpAway */
  use<Result>(work: (live: LiveServer) => Promise<Result>): Promise<Result>;
  /** Lists and records the tools anew. @throws McpAway */
  relist(): Promise<void>;
  /**
   * Checks whether the server still answers, and checks its list if it does not report changes. Reopens a lost
   * connection. Never throws.
   */
  lookAfter(): Promise<void>;
  readonly isBusy: () => boolean;
  readonly lastUse: () => number;
  close(): Promise<void>;
}

export function createConnection(parts: ConnectionParts): Connection {
  const backoff = createBackoff(parts.timing);
  let live: LiveServer | undefined;
  let opening: Promise<LiveServer> | undefined;
  let problem: LoginNeeded | string = '';
  let isClosed = false;
  const revision = createRevisionChoice();
  const uses = countUses();

  const list = createToolList({
    current: () => live,
    found(server, hashes) {
      if (live?.client === server.client) live = { ...live, hashes };
    },
    async failed(server, error) {
      await lose(errorText(error, server.hide), error);
      throw away();
    },
    recordListed: parts.recordListed,
  });

  async function open(): Promise<LiveServer> {
    let opened: OpenServer | undefined;
    const signal = AbortSignal.timeout(OPEN_MS);
    try {
      parts.mayOpen();
      opened = await parts.open(
        { onClosed: () => void lose('the connection ended'), onToolsChanged: list.onChanged },
        revision.mode(),
        signal,
      );
      const hashes = await list.read(opened, signal);
      if (isClosed) throw new Error('it was changed or switched off meanwhile');
      live = { ...opened, hashes };
      revision.opened(opened.client.getProtocolEra() === 'modern');
      backoff.opened();
      opening = undefined;
      return live;
    } catch (error) {
      await opened?.end();
      list.reset();
      revision.failed();
      // Cleared before the next attempt is set, so that nothing mistakes this one for it.
      opening = undefined;
      await fail(errorText(error, opened?.hide ?? ((text) => text)), error);
      throw away();
    }
  }

  async function relist(): Promise<void> {
    const wasLive = live;
    // Otherwise it was listed a moment ago.
    if ((await connected()) === wasLive) await list.refresh();
  }

  /** Without a reason, it is reopened at once. */
  async function lose(why?: string, error?: unknown): Promise<void> {
    const lost = live;
    if (!lost || isClosed) return;
    live = undefined;
    list.reset();
    if (why !== undefined) await fail(why, error);
    await lost.end();
  }

  async function fail(why: string, error?: unknown): Promise<void> {
    if (isClosed) return;
    problem = loginNeededIn(error) ?? why;
    // It does not use `connected`, which may find that a moment is left, because clocks and timers round.
    const isOver = backoff.failed(() => void (live ?? reopen().catch(() => undefined)));
    // Only what people see depends on it.
    await parts.recordStatus(isOver ? 'failed' : 'degraded', why).catch(() => undefined);
  }

  const away = (): Error => awayError(parts.name, backoff.waitMs(), problem);

  async function connected(): Promise<LiveServer> {
    if (isClosed) throw new McpAway(`the MCP server ${parts.name} was changed or switched off; call again`);
    if (live) return live;
    if (!opening && backoff.waitMs() > 0) throw away();
    return reopen();
  }

  const reopen = (): Promise<LiveServer> => (opening ??= open());

  async function lookAfter(): Promise<void> {
    const checked = live;
    // A server that is working may be too busy to answer.
    if (!checked || uses.isBusy()) return;
    if (!list.isSubscribed()) return list.refresh(true).catch(() => undefined);
    const problem = await probeProblem(checked);
    if (problem !== undefined && live?.client === checked.client) await lose(problem);
  }

  /** The live connection with its current list, as far as the server has reported changes. @throws McpAway */
  async function current(): Promise<LiveServer> {
    await connected();
    if (list.isStale()) await list.refresh();
    return connected();
  }

  const forget = async ({ client }: LiveServer) => (live?.client === client ? lose() : undefined);

  return {
    use: (work) => uses.count(() => inSession(current, forget, work), lookAfter),
    relist,
    lookAfter,
    isBusy: uses.isBusy,
    lastUse: uses.last,
    async close() {
      isClosed = true;
      backoff.end();
      const ending = live;
      live = undefined;
      await ending?.end();
      // It ends itself when it sees that it is closed.
      await opening?.catch(() => undefined);
    },
  };
}

/**
 * A program may exit when it gets a request of the newest revision. The next attempt uses the older one, unless the
 * program has ever supported the newest.
 */
function createRevisionChoice() {
  let mode: Mode = 'auto';
  let isModern = false;
  return {
    mode: () => mode,
    opened(wasModern: boolean) {
      isModern ||= wasModern;
      mode = isModern ? 'auto' : 'legacy';
    },
    failed() {
      if (!isModern) mode = mode === 'auto' ? 'legacy' : 'auto';
    },
  };
}

function countUses() {
  let uses = 0;
  let last = Date.now();
  return {
    isBusy: () => uses > 0,
    last: () => last,
    /** `onFailed` is called after a use that threw. */
    async count<Result>(use: () => Promise<Result>, onFailed: () => Promise<void>): Promise<Result> {
      uses += 1;
      let isWhole = false;
      try {
        const result = await use();
        isWhole = true;
        return result;
      } finally {
        uses -= 1;
        last = Date.now();
        if (!isWhole) void onFailed();
      }
    },
  };
}

/**
 * A request that a server over HTTP refuses because it has ended our session has not started: it is sent once more in a
 * new session.
 */
async function inSession<Result>(
  current: () => Promise<LiveServer>,
  forget: (server: LiveServer) => Promise<void>,
  work: (server: LiveServer) => Promise<Result>,
): Promise<Result> {
  const server = await current();
  try {
    return await work(server);
  } catch (error) {
    if (!server.isForgotten(error)) throw error;
    await forget(server);
    return work(await current());
  }
}

function probeProblem({ probe, hide }: LiveServer): Promise<string | undefined> {
  return probe().then(
    () => undefined,
    (error: unknown) => errorText(error, hide),
  );
}

function awayError(name: string, waitMs: number, problem: LoginNeeded | string): Error {
  if (problem instanceof Error) return problem;
  const when = waitMs > 0 ? `; it is tried again in ${Math.ceil(waitMs / 1000)} s` : '';
  return new McpAway(`the MCP server ${name} is disconnected${when}`, problem);
}
