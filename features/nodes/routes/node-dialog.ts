/** The dialog on one node's connection: what it is, its requests, and their results. */
import type { WebSocket } from 'ws';
import { CLOSED } from '../contract/node.ts';
import { fromNodeSchema, type ToNode } from '../schema.ts';
import {
  endInvocation,
  abandonedAt,
  abandonedInJournal,
  takeInvocations,
} from '../store/node-invocation-store.ts';
import { connectNode } from '../store/node-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface NodePlace {
  readonly tenant: string;
  readonly id: string;
}

/** A connection, with an id of its own. */
export interface NodeLine extends NodePlace {
  readonly name: string;
  readonly socket: Pick<WebSocket, 'send' | 'close' | 'terminate' | 'ping'>;
  /** Invocations that its node is running. */
  readonly running: Set<string>;
  /** True if it has reported itself. */
  isKnown: boolean;
}

export interface NodeDialog {
  /** Checks what has changed in the rows. */
  look(line: NodeLine): Promise<void>;
  hear(line: NodeLine, text: string): Promise<void>;
}

/** For one line, its methods must not run concurrently with each other. */
export function createNodeDialog(pool: Pool, sealer: Sealer): NodeDialog {
  const send = ({ socket }: NodeLine, message: ToNode): void => socket.send(JSON.stringify(message));

  async function sendDue(line: NodeLine, again: boolean): Promise<void> {
    for (const due of await takeInvocations(pool, sealer, line.tenant, line.name, again)) {
      line.running.add(due.id);
      send(line, { type: 'invoke', ...due });
    }
  }

  return {
    async look(line) {
      const { tenant, running } = line;
      const ended = running.size === 0 ? [] : await abandonedAt(forTenant(pool, tenant), [...running]);
      for (const id of ended) if (running.delete(id)) send(line, { type: 'cancel', id });
      await sendDue(line, false);
    },
    async hear(line, text) {
      const { tenant, id: node, socket } = line;
      const message = fromNodeSchema.safeParse(parsed(text)).data;
      if (!message || (message.type === 'hello') === line.isKnown)
        return socket.close(CLOSED.wrong, 'it does not speak as a node of this version does');
      if (message.type === 'result') {
        await endInvocation(pool, sealer, tenant, node, message.id, message.result);
        line.running.delete(message.id);
        return sendDue(line, false);
      }
      const { type: _, ...about } = message;
      if (!(await connectNode(forTenant(pool, tenant), node, line.name, about)))
        return socket.close(CLOSED.revoked, 'revoked');
      line.isKnown = true;
      for (const gone of await abandonedInJournal(forTenant(pool, tenant), node, about.journal))
        send(line, { type: 'cancel', id: gone });
      return sendDue(line, true);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is no JSON is no message.
    return undefined;
  }
}
