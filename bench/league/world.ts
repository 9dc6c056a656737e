/**
 * What an agent reaches, as one HTTP server: a scripted model, a payment service that counts, and a receiver of answers.
 * It is the same for all sides, and it is never killed.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Gate } from './gate.ts';
import type { PointId, Victim } from './points.ts';
import { type Reply, replyTo, sendReply, type Reported } from './script.ts';

/** What is known of a turn from outside. */
export interface Seen {
  /** How often each payment has happened. */
  readonly effects: ReadonlyMap<string, number>;
  /** What the model read about its last call. */
  readonly reported: Reported;
  /** The text of that, for people who look into a result. */
  readonly words: string;
  readonly answers: readonly Answer[];
  /** Milliseconds of `performance.now()` at the first answer. */
  readonly answeredAt: number | undefined;
}

export interface Answer {
  readonly ok: boolean;
  readonly text: string;
}

export interface World {
  readonly url: string;
  /** Forgets a turn's past, if it has one. */
  expect(turn: string): void;
  seen(turn: string): Seen;
  /** Resolves when a turn was answered; false when it was not within `ms`. */
  answered(turn: string, ms: number): Promise<boolean>;
  /** Turns of this gate are held from now on. */
  arm(gate: Gate | undefined): void;
  close(): Promise<void>;
}

interface Record_ {
  readonly effects: Map<string, number>;
  reported: Reported;
  words: string;
  readonly answers: Answer[];
  answeredAt: number | undefined;
  readonly waiters: (() => void)[];
}

/** Milliseconds that a payment takes when what is killed is not the agent. */
const EFFECT_MS = 300;
const BODY_BYTES = 5_000_000;
const SERVICES: readonly PointId[] = ['database', 'engine'] satisfies readonly Victim[];

const payment = z.object({ id: z.string().max(200) });
const answer = z.object({
  id: z.string().max(200),
  text: z.string().default(''),
  ok: z.boolean().default(true),
});
/** An event of TempoClaw that a webhook sends. */
const event = z.object({
  type: z.string(),
  data: z.object({ session_key: z.string(), data: z.record(z.string(), z.unknown()).default({}) }),
});

export async function startWorld(): Promise<World> {
  const records = new Map<string, Record_>();
  const deliveries = new Set<string>();
  let gate: Gate | undefined;
  const recordOf = (turn: string): Record_ => {
    const found = records.get(turn) ?? newRecord();
    records.set(turn, found);
    return found;
  };

  async function pay(body: unknown, response: ServerResponse): Promise<void> {
    const { id } = payment.parse(body);
    // A payment's id is its turn's with the number of the call.
    const turn = id.slice(0, id.lastIndexOf('-'));
    const happen = (): void => {
      const { effects } = recordOf(turn);
      effects.set(id, (effects.get(id) ?? 0) + 1);
    };
    const respond = (): Promise<void> => end(response, { text: `paid ${id}` });
    const held = gate?.point;
    const isOdd = /[13579]$/.test(turn);
    const arrived = (point: PointId, release: () => Promise<void>): boolean =>
      gate?.arrive(point, turn, release) ?? false;
    if (
      arrived('in', async () => {
        // The service does not know that its caller has died.
        if (isOdd) happen();
        response.destroy();
      })
    )
      return;
    if (held && SERVICES.includes(held)) {
      const release = async (): Promise<void> => {
        await sleep(EFFECT_MS);
        happen();
        await respond();
      };
      if (arrived(held, release)) return;
    }
    happen();
    const isHeld =
      arrived('after', async () => void response.destroy()) || arrived('record', () => respond());
    if (!isHeld) await respond();
  }

  async function think(body: unknown, response: ServerResponse): Promise<void> {
    const reply: Reply = replyTo(body);
    const record = recordOf(reply.turn);
    if (reply.reported) [record.reported, record.words] = [reply.reported, reply.words];
    const send = (): Promise<void> => sendReply(response, reply);
    const point = reply.call ? 'before' : 'answer';
    if (!gate?.arrive(point, reply.turn, send)) await send();
  }

  function deliver(turn: string, one: Answer): void {
    const record = recordOf(turn);
    record.answers.push(one);
    record.answeredAt ??= performance.now();
    for (const wake of record.waiters.splice(0)) wake();
  }

  /** The end of a turn of TempoClaw. A delivery that comes again has the same id. */
  function receive(body: unknown, request: IncomingMessage): void {
    const id = String(request.headers['webhook-id'] ?? '');
    if (deliveries.has(id)) return;
    deliveries.add(id);
    const { type, data } = event.parse(body);
    deliver(data.session_key, {
      ok: type === 'turn.completed',
      text: JSON.stringify(data.data).slice(0, 2_000),
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://world').pathname;
    if (request.method === 'GET') {
      const id = decodeURIComponent(path.slice('/effects/'.length));
      const count = records.get(id.slice(0, id.lastIndexOf('-')))?.effects.get(id) ?? 0;
      return end(response, { count });
    }
    const body = await readBody(request);
    if (path === '/effects') return pay(body, response);
    if (path.endsWith('/chat/completions')) return think(body, response);
    if (path === '/hooks') receive(body, request);
    else {
      const { id, ...one } = answer.parse(body);
      deliver(id, one);
    }
    return end(response, {});
  }

  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => {
      // A killed side leaves requests without a reader.
      if (!response.headersSent) response.writeHead(400);
      response.end(error instanceof Error ? error.message.slice(0, 500) : '');
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    expect: (turn) => void records.set(turn, newRecord()),
    seen: recordOf,
    async answered(turn, ms) {
      const record = recordOf(turn);
      if (record.answers.length > 0) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), ms);
      record.waiters.push(() => resolve(true));
      return promise.finally(() => clearTimeout(timer));
    },
    arm: (next) => void (gate = next),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function newRecord(): Record_ {
  return {
    effects: new Map(),
    reported: 'nothing',
    words: '',
    answers: [],
    answeredAt: undefined,
    waiters: [],
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES) throw new Error('The body is too large.');
  return JSON.parse((await readText(request)) || '{}');
}

/** Resolves when the kernel has the response, or its reader is gone. */
async function end(response: ServerResponse, value: object): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('close', resolve);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value), resolve);
  await promise;
}
