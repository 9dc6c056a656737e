/**
 * The list of tools of a live server. It is read anew when the server reports a change, and checked from time to time
 * if the server does not report changes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedTool } from '../store/mcp-tool-store.ts';
import type { LiveServer, OpenServer } from './open-server.ts';

/**
 * Time to start, also with a package that is downloaded first, to answer and to list its tools. Calls wait this long
 * for it (CONNECT_SECONDS).
 */
export const OPEN_MS = 65_000;
/** A list is read no more often, however often its server reports a change. */
const LIST_MS = 1_000;

type Hashes = LiveServer['hashes'];

export interface ToolList {
  /** Reads and records hashes by the server's name of each tool. @throws what a request does */
  read(server: OpenServer, signal: AbortSignal): Promise<Hashes>;
  /** Reads it once more; with `isLook`, records only changes. @throws what `failed` does */
  refresh(isLook?: boolean): Promise<void>;
  readonly onChanged: () => void;
  /** True if the server reports changes. */
  readonly isSubscribed: () => boolean;
  /** True if it may have changed since it was read. */
  readonly isStale: () => boolean;
  /** Called when the connection was lost. */
  reset(): void;
}

export function createToolList(parts: {
  readonly current: () => LiveServer | undefined;
  readonly found: (server: LiveServer, hashes: Hashes) => void;
  /** A list that cannot be read ends the connection. */
  readonly failed: (server: LiveServer, error: unknown) => Promise<never>;
  readonly recordListed: (tools: readonly ListedTool[]) => Promise<void>;
}): ToolList {
  let isSubscribed = false;
  let isStale = false;
  let readAt = 0;
  let reading: Promise<void> | undefined;

  async function read(server: OpenServer, signal: AbortSignal, known?: Hashes): Promise<Hashes> {
    // This comes first: later changes are reported, or checked for.
    isStale = false;
    isSubscribed ||= await server.hearChanges(() => {
      isSubscribed = false;
      isStale = true;
    });
    const tools = await server.list(signal);
    readAt = Date.now();
    const hashes = new Map(tools.map(({ definition, hash }) => [definition.name, hash]));
    if (!known || !isSame(hashes, known)) await parts.recordListed(tools);
    return hashes;
  }

  async function readAnew(isLook: boolean): Promise<void> {
    await sleep(Math.max(0, readAt + LIST_MS - Date.now()));
    const server = parts.current();
    if (!server) return;
    try {
      parts.found(
        server,
        await read(server, AbortSignal.timeout(OPEN_MS), isLook ? server.hashes : undefined),
      );
    } catch (error) {
      await parts.failed(server, error);
    }
  }

  function refresh(isLook = false): Promise<void> {
    reading ??= readAnew(isLook).finally(() => {
      reading = undefined;
      if (isStale) refreshSoon();
    });
    return reading;
  }

  const refreshSoon = (): void => void (parts.current() && refresh().catch(() => undefined));

  return {
    read: (server, signal) => read(server, signal),
    refresh,
    onChanged() {
      isStale = true;
      refreshSoon();
    },
    isSubscribed: () => isSubscribed,
    isStale: () => isStale,
    reset() {
      isSubscribed = false;
    },
  };
}

function isSame(a: Hashes, b: Hashes): boolean {
  return a.size === b.size && [...a].every(([name, hash]) => b.get(name) === hash);
}
