/**
 * A node's connection to its server: it connects out by WebSocket, and reconnects for as long as necessary. Its
 * requests go through its journal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { scrubJson } from '@tempoclaw/scrubber';
import { type RawData, WebSocket } from 'ws';
import { CLOSED, NODE_LIMITS, PING_MS, reconnectDelay } from '../contract/node.ts';
import type { NodeResult } from '../schema.ts';
import { type ToNode, toNodeSchema } from '../schema.ts';
import { CliError } from '#cli/cli-error.ts';
import { oneLine } from '#cli/text.ts';
import type { OwnCapability } from './capabilities.ts';
import type { Journal } from './journal.ts';

export interface NodeConnectionParts {
  readonly url: string;
  readonly token: string;
  readonly version: string;
  readonly journal: Journal;
  readonly capabilities: readonly OwnCapability[];
  readonly say: (line: string) => void;
  /** Ends it, and what it runs. */
  readonly signal: AbortSignal;
}

/** Resolves when `signal` is aborted. @throws CliError when it must not return: revoked, or replaced. */
export async function stayConnected(parts: NodeConnectionParts): Promise<void> {
  const { signal, say } = parts;
  const runner = createRunner(parts);
  try {
    for (let failures = 0; !signal.aborted; ) {
      const { opened, words } = await connectOnce(parts, runner);
      if (signal.aborted) break;
      failures = opened ? 0 : failures + 1;
      const wait = reconnectDelay(failures, Math.random);
      say(`not connected (${words}); again in ${(wait / 1000).toFixed(1)} s`);
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await runner.end();
  }
}

export interface Runner {
  /** Returns undefined when it already runs. */
  take(request: Extract<ToNode, { type: 'invoke' }>): Promise<NodeResult | undefined>;
  hear(message: ToNode): void;
  /** Where results go now. */
  answers: ((id: string, result: NodeResult) => void) | undefined;
  end(): Promise<void>;
}

export function createRunner({
  journal,
  capabilities,
  say,
}: Pick<NodeConnectionParts, 'journal' | 'capabilities' | 'say'>): Runner {
  const stops = new Map<string, AbortController>();
  const works = new Set<Promise<void>>();

  async function run(request: Extract<ToNode, { type: 'invoke' }>, signal: AbortSignal): Promise<NodeResult> {
    const { capability, params, milliseconds } = request;
    const own = capabilities.find(({ name }) => name === capability);
    if (!own) return { ok: false, code: 'PermissionDenied', text: `this node has no ${capability}` };
    try {
      const result = await own.run({ params, signal, milliseconds });
      return { ...result, text: result.text.slice(0, NODE_LIMITS.output) };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return { ok: false, code: 'ExecutionFailed', text };
    }
  }

  async function take(requested: Extract<ToNode, { type: 'invoke' }>): Promise<NodeResult | undefined> {
    if (stops.has(requested.id)) return undefined;
    const mayBegin = requested.milliseconds > 0 && stops.size < 2 * NODE_LIMITS.atOnce;
    // A stop may come while the journal is written.
    const stop = new AbortController();
    stops.set(requested.id, stop);
    try {
      const started = await journal.begin(requested.id, mayBegin);
      if (started === 'running') return undefined;
      if (started === 'full') return BUSY;
      if (started === 'lost') return LOST;
      if (started !== 'new') return started;
      const what = JSON.stringify(scrubJson(requested.params));
      say(oneLine(`${requested.capability}${what === '{}' ? '' : ` ${what}`}`, 200));
      const result = stop.signal.aborted ? NOT_STARTED : await run(requested, stop.signal);
      await journal.end(requested.id, result);
      say(`${requested.capability} has ended${result.ok ? '' : `: ${result.code}`}`);
      return result;
    } finally {
      stops.delete(requested.id);
    }
  }

  const runner: Runner = {
    answers: undefined,
    take,
    hear(message) {
      if (message.type === 'cancel') return stops.get(message.id)?.abort();
      const work = take(message)
        .then((result) => result && runner.answers?.(message.id, result))
        .catch((error: unknown) => say(`the journal cannot be written: ${String(error)}`));
      works.add(work);
      void work.finally(() => works.delete(work));
    },
    async end() {
      for (const stop of stops.values()) stop.abort();
      await Promise.all(works);
      await journal.close();
    },
  };
  return runner;
}

const BUSY: NodeResult = { ok: false, code: 'RateLimited', text: 'the node is busy; nothing was done' };
const NOT_STARTED: NodeResult = { ok: false, code: 'Cancelled', text: 'it was not begun' };
const LOST: NodeResult = {
  ok: false,
  code: 'OutcomeUnknown',
  text: 'it was begun, and the node ended before it was over; it may have been done',
};

function connectOnce(
  { url, token, version, journal, capabilities, say, signal }: NodeConnectionParts,
  runner: Runner,
): Promise<{ readonly opened: boolean; readonly words: string }> {
  const address = new URL(`${url.replace(/^http/, 'ws')}/v1/nodes/connect`);
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${token}` },
    maxPayload: NODE_LIMITS.frame,
    perMessageDeflate: false,
    handshakeTimeout: 2 * PING_MS,
  });
  return new Promise((resolve, reject) => {
    let opened = false;
    let words: string | undefined;
    let silence = setTimeout(() => undefined, 0);
    const received = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => socket.terminate(), 2.5 * PING_MS);
    };
    const stop = (): void => socket.close(1001);
    signal.addEventListener('abort', stop, { once: true });
    socket.on('open', () => {
      opened = true;
      received();
      say(`connected to ${url}`);
      const declared = capabilities.map(({ name, description }) => ({ name, description }));
      const about = { platform: `${process.platform} ${process.arch}`, version, journal: journal.id };
      socket.send(JSON.stringify({ type: 'hello', ...about, capabilities: declared }));
      runner.answers = (id, result) => socket.send(JSON.stringify({ type: 'result', id, result }));
    });
    socket.on('ping', received);
    socket.on('message', (data) => {
      received();
      const message = readMessage(data);
      if (message) runner.hear(message);
    });
    socket.on('error', (error) => {
      words ??= error.message;
    });
    socket.on('unexpected-response', (_request, response) => {
      words = `it answered ${response.statusCode}`;
      if (response.statusCode === 401) reject(revoked(url));
      socket.terminate();
    });
    socket.on('close', (code, reason) => {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      runner.answers = undefined;
      if (code === CLOSED.revoked) reject(revoked(url));
      else if (code === CLOSED.replaced || code === CLOSED.wrong)
        reject(new CliError(`${url} has closed the connection: ${reason.toString()}.`, { code: 'Closed' }));
      else resolve({ opened, words: words ?? 'the connection is lost' });
    });
  });
}

function readMessage(data: RawData): ToNode | undefined {
  try {
    return toNodeSchema.safeParse(JSON.parse((data as Buffer).toString('utf8'))).data;
  } catch {
    // A newer server may send what this one does not know.
    return undefined;
  }
}

export function revoked(url: string): CliError {
  return new CliError(`${url} does not know this node any more: it was revoked.`, {
    code: 'Unauthorized',
    remedy:
      'Join again with a new code: `tempoclaw nodes invite NAME` there, then `tempoclaw node --code CODE` here.',
  });
}
