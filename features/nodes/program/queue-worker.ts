/**
 * A node as a Temporal worker: its requests are activities on a task queue of its own, sealed under a key of its token.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import type { OfficialSettings } from '#config/temporal-connection.ts';
import { NODE_LIMITS, NODE_SEAL, NODE_WORK, nodeWorkPlace, PING_MS, timeLeft } from '../contract/node.ts';
import { deriveSealKey, openPayload, sealPayload } from '#domain/payload-seal.ts';
import { nodeGreetedSchema } from '../schema.ts';
import { jsonObjectSchema } from '#domain/schema/scalars.ts';
import { createRunner, type NodeConnectionParts, revoked, type Runner } from './node-connection.ts';

export interface QueueWorkerParts extends NodeConnectionParts {
  readonly temporal: OfficialSettings;
}

/** Resolves when `signal` is aborted. @throws CliError when it was revoked */
export async function workOnQueue(parts: QueueWorkerParts): Promise<void> {
  const { temporal, say, token } = parts;
  const { namespace = 'default', ...target } = temporal;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const runner = createRunner(parts);
  const connection = await NativeConnection.connect(target);
  try {
    const run = randomUUID();
    const taskQueue = await greet(parts, run, false);
    if (taskQueue === undefined) return;
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      activities: { [NODE_WORK.type]: createActivity(runner, await deriveSealKey(token, NODE_SEAL)) },
      maxConcurrentActivityTaskExecutions: NODE_LIMITS.atOnce,
      shutdownGraceTime: 0,
    });
    say(`works on the task queue ${taskQueue} of ${target.address ?? 'localhost:7233'}`);
    await worker.runUntil(greet(parts, run, true));
  } finally {
    await runner.end();
    await connection.close();
  }
}

const requestSchema = z.object({
  id: z.string(),
  capability: z.string(),
  params: jsonObjectSchema,
  milliseconds: z.number(),
});

function createActivity(
  runner: Runner,
  key: Uint8Array<ArrayBuffer>,
): (sealed: Uint8Array) => Promise<Uint8Array> {
  return async (sealed) => {
    const { activityId: work, scheduledTimestampMs: since } = activityInfo();
    const request = requestSchema.parse(await openPayload(key, nodeWorkPlace(work, 'asked'), sealed));
    const alive = setInterval(() => heartbeat(), NODE_WORK.heartbeatMs / 5);
    const stop = (): void => runner.hear({ type: 'cancel', id: request.id });
    cancellationSignal().addEventListener('abort', stop, { once: true });
    try {
      const result = await runner.take({
        type: 'invoke',
        ...request,
        milliseconds: timeLeft(request.milliseconds, Date.now() - since),
      });
      if (!result) throw new Error(`${request.id} runs already`);
      const iv = crypto.getRandomValues(new Uint8Array(12));
      return await sealPayload(key, nodeWorkPlace(work, 'result'), iv, result);
    } finally {
      clearInterval(alive);
    }
  };
}

/**
 * Reports itself again and again, so that the server knows that it is there. Without a known queue, it ends with the
 * first answer, which names the queue; undefined means that it was ended.
 */
async function greet(
  { url, token, version, journal, capabilities, say, signal }: QueueWorkerParts,
  run: string,
  wasKnown: boolean,
): Promise<string | undefined> {
  const declared = capabilities.map(({ name, description }) => ({ name, description }));
  const about = { platform: `${process.platform} ${process.arch}`, version, journal: journal.id };
  const body = JSON.stringify({ ...about, capabilities: declared, run });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (let known: boolean | undefined = wasKnown || undefined; !signal.aborted; ) {
    const time = AbortSignal.any([signal, AbortSignal.timeout(PING_MS)]);
    const answer = await fetch(`${url}/v1/nodes/hello`, { method: 'POST', headers, body, signal: time })
      .then(async (response) =>
        response.ok ? nodeGreetedSchema.parse(await response.json()) : response.status,
      )
      .catch((error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error));
    if (signal.aborted) break;
    if (answer === 401) throw revoked(url);
    const isKnown = typeof answer === 'object';
    if (isKnown !== known) say(isKnown ? `known to ${url}` : `not known to ${url} for now (${answer})`);
    if (isKnown && !wasKnown) return answer.task_queue;
    known = isKnown;
    await sleep(PING_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
