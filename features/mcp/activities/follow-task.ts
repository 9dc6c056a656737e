/**
 * Follows a call that its server runs as a task by the task's id. Any worker can follow it, again after each one's
 * death, and never starts it anew. It supports both forms of tasks: MCP 2025-11-25, and the extension of 2026-07-28.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallToolResult, type Client, isSpecType, ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { type ServerMessage, UNLIMITED_MS } from './begin-call.ts';
import type { LiveServer } from './open-server.ts';

const REQUEST_MS = 30_000;
/** Milliseconds between polls: what the server requests, within these limits. */
const POLL_MS = { standard: 1_000, min: 100, max: 10_000 } as const;
/** Characters of a status message. */
const LINE = 300;
/** Characters that are read, so that no half of a secret is left. */
const MAX = 20_000;

const task = z.looseObject({
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional(),
  pollIntervalMs: z.number().optional(),
  pollInterval: z.number().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
  inputRequests: z.record(z.string(), z.unknown()).optional(),
});
const anything = z.looseObject({});

/**
 * `isAnswered` says which of the server's questions are answered; the server may list them for a while after. Throws
 * what a request does, and ProtocolError when the task has failed.
 */
export async function followTask(
  { client, hide }: LiveServer,
  taskId: string,
  isAnswered: (key: string) => boolean,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<ServerMessage> {
  const isModern = client.getProtocolEra() === 'modern';
  const params = { taskId };
  for (let shown = ''; ; ) {
    const now = await client.request({ method: 'tasks/get', params }, task, { signal, timeout: REQUEST_MS });
    const message = messageOf(now, isModern, isAnswered);
    if (message) return message;
    // Before 2026-07-28, the result is requested separately, and with it come the questions, over the connection.
    if (!isModern && now.status !== 'working') {
      const options = { signal, timeout: UNLIMITED_MS };
      const result = await client.request({ method: 'tasks/result', params }, anything, options);
      return { kind: 'result', result: resultIn(result) };
    }
    const line = hide((now.statusMessage ?? now.status).slice(0, MAX)).slice(0, LINE);
    if (line !== shown) progress(line);
    shown = line;
    const wait = now.pollIntervalMs ?? now.pollInterval ?? POLL_MS.standard;
    await sleep(Math.min(Math.max(wait, POLL_MS.min), POLL_MS.max), undefined, { signal });
  }
}

/** Returns undefined while it works, or waits for submitted answers. */
function messageOf(
  now: z.output<typeof task>,
  isModern: boolean,
  isAnswered: (key: string) => boolean,
): ServerMessage | undefined {
  if (now.status === 'cancelled') return { kind: 'cancelled' };
  if (isModern && now.status === 'failed')
    throw new ProtocolError(now.error?.code ?? 0, now.error?.message ?? 'the task has failed');
  if (isModern && now.status === 'completed') return { kind: 'result', result: resultIn(now.result) };
  const requests = Object.entries(now.inputRequests ?? {}).filter(([key]) => !isAnswered(key));
  if (now.status !== 'input_required' || requests.length === 0) return undefined;
  return { kind: 'asks', requests: Object.fromEntries(requests) };
}

/** Submits what people answered (2026-07-28). A repeat has the same effect: a server ignores what it already has. */
export async function answerTask(client: Client, taskId: string, inputResponses: object): Promise<void> {
  await client.request({ method: 'tasks/update', params: { taskId, inputResponses } }, anything, {
    timeout: REQUEST_MS,
  });
}

export async function cancelTask(client: Client, taskId: string): Promise<void> {
  await client.request({ method: 'tasks/cancel', params: { taskId } }, anything, { timeout: REQUEST_MS });
}

function resultIn(value: unknown): CallToolResult {
  if (isSpecType.CallToolResult(value)) return { ...value, content: value.content ?? [] };
  throw new ProtocolError(0, 'the task ended with something that is no result of a tool');
}
