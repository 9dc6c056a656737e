/**
 * All connections of a worker to MCP servers: one for each tenant and server, limited in number and monitored. It also
 * runs the checks that people request.
 */
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findMcpCredentials } from '../store/mcp-credential-store.ts';
import {
  claimChecks,
  currentRevisions,
  endCheck,
  type McpCheck,
  type McpServerToUse,
  recordMcpStatus,
} from '../store/mcp-server-store.ts';
import { recordListed } from '../store/mcp-tool-store.ts';
import { TIMING, type Timing } from './backoff.ts';
import type { HeldCall } from './begin-call.ts';
import { type Connection, createConnection } from './connection.ts';
import { LoginNeeded, loginNeededIn, McpAway } from './mcp-away.ts';
import { type LiveServer, type OpenServerDeps, openServer } from './open-server.ts';

export interface McpServers {
  /**
   * For a server whose credentials are each user's own, uses the connection of `user` and of nobody else. @throws
   * McpAway when there is no connection, and none can be made now.
   */
  use<Result>(
    server: McpServerToUse,
    user: string | null,
    work: (live: LiveServer) => Promise<Result>,
  ): Promise<Result>;
  /**
   * Calls in this worker that wait for people's answers to their servers' questions over the connection, by tenant and
   * call.
   */
  readonly held: Map<string, HeldCall>;
  close(): Promise<void>;
}

export interface McpServersDeps extends OpenServerDeps {
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly onError: (error: unknown) => void;
  readonly timing?: Timing;
}

/** Connections of a worker at once. */
const MAX_CONNECTIONS = 200;
const MAX_OF_USER = 30;
/** A connection that nothing has used for this long is closed until the next use. */
const IDLE_MS = 600_000;
/** How often a server may be opened in a minute, so that a failing one is not started in a loop. */
const OPENINGS_A_MINUTE = 10;

interface Held {
  readonly server: McpServerToUse;
  /** Empty for the server's own credentials. */
  readonly user: string;
  /** When the user submitted the credentials that it was made with. */
  readonly savedAt: number;
  readonly connection: Connection;
}

export function createMcpServers(deps: McpServersDeps): McpServers {
  const { pool, timing = TIMING } = deps;
  const held = new Map<string, Held>();
  let isClosed = false;
  const mayOpen = limitOpenings();

  const keyOf = ({ tenant, id }: McpServerToUse, user: string): string => `${tenant}/${id}/${user}`;

  function drop(key: string): void {
    const one = held.get(key);
    held.delete(key);
    one?.connection.close().catch(deps.onError);
  }

  /** `user` is empty for the server's own credentials. */
  async function connectionTo(server: McpServerToUse, user: string): Promise<Connection> {
    const key = keyOf(server, user);
    const savedAt = user === '' ? 0 : await whenSaved(deps, server, user);
    if (savedAt === undefined) {
      drop(key);
      throw new LoginNeeded(`the user ${user} has no credentials for the MCP server ${server.name}`);
    }
    if (isClosed) throw new McpAway('the worker is ending; call again');
    const known = held.get(key);
    if (known && known.server.revision >= server.revision && known.savedAt >= savedAt)
      return known.connection;
    drop(key);
    const others = [...held];
    const isTheirs = ([, one]: (typeof others)[number]): boolean =>
      one.user === user && one.server.tenant === server.tenant;
    if (user !== '') evictOldest(others.filter(isTheirs), MAX_OF_USER, drop);
    evictOldest(others, MAX_CONNECTIONS, drop);
    const connection = createConnection({
      name: server.name,
      timing,
      open: (received, mode, signal) => openServer(deps, server, received, { mode, user, signal }),
      mayOpen: () => mayOpen(key),
      recordListed: (tools) => recordListed(pool, server, tools, user !== ''),
      // Only that user learns what is wrong with their own connection.
      recordStatus: async (status, error) => {
        if (user === '') await recordMcpStatus(pool, server, status, error);
      },
    });
    held.set(key, { server, user, savedAt, connection });
    return connection;
  }

  async function check(one: McpCheck): Promise<void> {
    try {
      await (await connectionTo(one.server, one.user)).relist();
    } catch (error) {
      // The row says why; a list that could not be recorded is read again.
      const known = error instanceof McpAway ? error : loginNeededIn(error);
      if (!known) throw error;
      if (one.user !== '') await recordMcpStatus(pool, one.server, 'degraded', known.message);
    }
    // No calls use it, so a failure is not retried again and again.
    if (one.user === '' && one.server.config.credentials === 'per_user') drop(keyOf(one.server, ''));
    // A worker that ends has not done the check; another worker does it when the lease is over.
    if (!isClosed) await endCheck(pool, one);
  }

  async function runChecks(tenant: string | undefined): Promise<void> {
    if (isClosed) return;
    const checks = await claimChecks(pool, tenant);
    await Promise.all(checks.map(check));
  }

  /** Ends connections to servers that are gone, off or changed. */
  async function dropStale(tenant: string | undefined): Promise<void> {
    const tenants = new Set([...held.values()].map(({ server }) => server.tenant));
    for (const each of tenants) {
      if (tenant !== undefined && tenant !== each) continue;
      const revisions = await currentRevisions(forTenant(pool, each));
      for (const [key, { server }] of held)
        if (server.tenant === each && revisions.get(server.id) !== server.revision) drop(key);
    }
  }

  const probe = (tenant: string | undefined): void => {
    if (!isClosed)
      dropStale(tenant)
        .then(() => runChecks(tenant))
        .catch(deps.onError);
  };
  deps.changes.subscribe('custom_tools', probe);
  probe(undefined);
  const timer = setInterval(() => {
    probe(undefined);
    for (const [key, { connection }] of held)
      if (!connection.isBusy() && Date.now() - connection.lastUse() > IDLE_MS) drop(key);
      else void connection.lookAfter();
  }, timing.healthMs);
  timer.unref();

  return {
    held: new Map(),
    async use(server, user, work) {
      const isOwn = server.config.credentials === 'per_user';
      if (isOwn && !user)
        throw new McpAway(
          `the MCP server ${server.name} is used with a user's own credentials, and this turn is nobody's`,
        );
      return (await connectionTo(server, isOwn ? (user ?? '') : '')).use(work);
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      const all = [...held.values()];
      held.clear();
      await Promise.all(all.map(({ connection }) => connection.close()));
    },
  };
}

/** When the user submitted their current credentials; undefined when there are none. */
async function whenSaved(
  deps: McpServersDeps,
  { tenant, id }: McpServerToUse,
  user: string,
): Promise<number | undefined> {
  const own = await findMcpCredentials(deps, { tenant, server: id, user });
  return own?.given_at?.getTime();
}

/** Ends the connection that was unused the longest. @throws McpAway when all are in use. */
function evictOldest(
  among: readonly (readonly [key: string, one: Held])[],
  max: number,
  drop: (key: string) => void,
): void {
  if (among.length < max) return;
  const idle = among.filter(([, { connection }]) => !connection.isBusy());
  const [oldest] = idle.toSorted(([, a], [, b]) => a.connection.lastUse() - b.connection.lastUse());
  if (!oldest) throw new McpAway(`all ${max} connections to MCP servers are in use; try again`);
  drop(oldest[0]);
}

/** A server is not started more often, whatever requests it. */
function limitOpenings(): (key: string) => void {
  const times = new Map<string, number[]>();
  return (key) => {
    const since = Date.now() - 60_000;
    for (const [each, all] of times) if ((all.at(-1) ?? 0) < since) times.delete(each);
    const recent = (times.get(key) ?? []).filter((time) => time > since);
    if (recent.length >= OPENINGS_A_MINUTE)
      throw new McpAway(`it was started ${OPENINGS_A_MINUTE} times within a minute`);
    times.set(key, [...recent, Date.now()]);
  };
}
