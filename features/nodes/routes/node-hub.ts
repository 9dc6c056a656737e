/**
 * The nodes that are connected to this process. Each gets what waits for it, and its results become rows. The rows have
 * everything: if a connection breaks, or dies with its process, the next one finds everything.
 */
import { randomUUID } from 'node:crypto';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSED, NODE_LIMITS, PING_MS } from '../contract/node.ts';
import { connectedNodes, disconnectNode, hasNode, seeNodes } from '../store/node-store.ts';
import type { ApiDeps } from '#api/deps.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createNodeDialog, type NodeLine, type NodePlace } from './node-dialog.ts';

interface Connection extends NodeLine {
  isAlive: boolean;
  /** True after its first message, which may not be in its row yet. Only one connection of a node waits for that. */
  hasSpoken: boolean;
  /** True if a check of the changes is scheduled. */
  willLook: boolean;
  /** Steps run one after the other. */
  work: Promise<void>;
}

export interface NodeHub {
  readonly server: WebSocketServer;
  add(place: NodePlace, socket: WebSocket): void;
  /** Disconnects all of them; they go to another process, or return. */
  close(): Promise<void>;
}

const SERVER = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: NODE_LIMITS.frame,
} as const;

export function createNodeHub(
  { pool, secrets: { sealer, changes } }: Pick<ApiDeps, 'pool' | 'secrets'>,
  onError: (error: unknown) => void,
  pingMs = PING_MS,
): NodeHub {
  const dialog = createNodeDialog(pool, sealer);
  const connections = new Map<string, Connection>();
  const endings = new Map<string, Promise<void>>();
  let isClosed = false;

  /** Processes its rows after everything that came before; a failure is made up for when it returns. */
  function queue(connection: Connection, step: () => Promise<void>): void {
    connection.work = connection.work.then(step).catch((error: unknown) => {
      onError(error);
      connection.socket.terminate();
    });
  }

  const known = (): Connection[] => [...connections.values()].filter(({ isKnown }) => isKnown);

  /** Disconnects those that have lost their node: it was deleted, or has reconnected elsewhere. */
  async function check(some: readonly Connection[], reading: typeof seeNodes): Promise<void> {
    if (some.length === 0) return;
    const names = some.map(({ name }) => name);
    const there = await reading(pool, names);
    for (const { tenant, id, name, socket } of some)
      if (!there.has(name)) {
        if (await hasNode(forTenant(pool, tenant), id))
          socket.close(CLOSED.replaced, 'another program has connected with its token');
        else socket.close(CLOSED.revoked, 'revoked');
      }
  }

  changes.subscribe('nodes', (tenant) => {
    const meant = known().filter((one) => tenant === undefined || one.tenant === tenant);
    check(meant, connectedNodes).catch(onError);
    for (const connection of meant.filter(({ willLook }) => !willLook)) {
      connection.willLook = true;
      queue(connection, () => {
        connection.willLook = false;
        return dialog.look(connection);
      });
    }
  });

  const timer = setInterval(() => {
    for (const connection of connections.values()) {
      if (!connection.isAlive) connection.socket.terminate();
      else connection.socket.ping();
      connection.isAlive = false;
    }
    check(known(), seeNodes).catch(onError);
  }, pingMs);
  timer.unref();

  /** Resolves when it is closed and its row says so. */
  async function ended(connection: Connection, closed: Promise<unknown>): Promise<void> {
    await closed;
    await connection.work;
    if (connection.isKnown) await disconnectNode(pool, connection.name).catch(onError);
    connections.delete(connection.name);
    endings.delete(connection.name);
  }

  return {
    server: new WebSocketServer(SERVER),
    add({ tenant, id }, socket) {
      const name = randomUUID();
      const connection: Connection = {
        tenant,
        id,
        name,
        socket,
        running: new Set(),
        isKnown: false,
        isAlive: true,
        hasSpoken: false,
        willLook: false,
        work: Promise.resolve(),
      };
      if (isClosed) return socket.terminate();
      for (const other of connections.values())
        if (other.id === id && !other.hasSpoken) other.socket.terminate();
      connections.set(name, connection);
      socket.on('pong', () => {
        connection.isAlive = connection.isKnown;
      });
      // A node that sends more than is read waits at its socket.
      socket.on('message', (data) => {
        connection.hasSpoken = true;
        socket.pause();
        queue(connection, async () => {
          await dialog.hear(connection, (data as Buffer).toString('utf8'));
          socket.resume();
        });
      });
      // An error of a connection ends it, and its close reports that.
      socket.on('error', () => undefined);
      endings.set(name, ended(connection, new Promise((resolve) => socket.once('close', resolve))));
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      for (const { socket } of connections.values()) socket.terminate();
      await Promise.all(endings.values());
    },
  };
}
