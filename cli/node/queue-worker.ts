/** A node as a Temporal worker: what it is asked are activities on a task queue of its own, sealed under its token. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import type { OfficialSettings } from '#config/temporal-connection.ts';
import { NODE_LIMITS, NODE_WORK, nodeWorkPlace, PING_MS, timeLeft } from '#domain/node.ts';
import { openFromNode, sealForNode } from '#domain/node-seal.ts';
import { jsonObjectSchema } from '#domain/schema/scalars.ts';
import { createRunner, type NodeConnectionParts, revoked, type Runner } from './node-connection.ts';

export interface QueueWorkerParts extends NodeConnectionParts {
  readonly taskQueue: string;
  readonly temporal: OfficialSettings;
}

/** Resolves when `signal` is aborted. @throws CliError when it was revoked */
export async function workOnQueue(parts: QueueWorkerParts): Promise<void> {
  const { taskQueue, temporal, signal, say, token } = parts;
  const { namespace = 'default', ...target } = temporal;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const runner = createRunner(parts);
  const connection = await NativeConnection.connect(target);
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      activities: { [NODE_WORK.type]: createActivity(runner, createHash('sha256').update(token).digest()) },
      maxConcurrentActivityTaskExecutions: NODE_LIMITS.atOnce,
      shutdownGraceTime: 0,
    });
    say(`works on the task queue ${taskQueue} of ${target.address ?? 'localhost:7233'}`);
    await worker.runUntil(greet(parts, signal));
  } finally {
    await runner.end();
    await connection.close();
  }
}

const askedSchema = z.object({
  id: z.string(),
  capability: z.string(),
  params: jsonObjectSchema,
  milliseconds: z.number(),
});

function createActivity(runner: Runner, hash: Buffer): (sealed: Uint8Array) => Promise<Uint8Array> {
  const tokenHash = Uint8Array.from(hash);
  return async (sealed) => {
    const { activityId: work, scheduledTimestampMs: since } = activityInfo();
    const asked = askedSchema.parse(await openFromNode(tokenHash, nodeWorkPlace(work, 'asked'), sealed));
    const alive = setInterval(() => heartbeat(), NODE_WORK.heartbeatMs / 5);
    const stop = (): void => runner.hear({ type: 'cancel', id: asked.id });
    cancellationSignal().addEventListener('abort', stop, { once: true });
    try {
      const result = await runner.take({
        type: 'invoke',
        ...asked,
        milliseconds: timeLeft(asked.milliseconds, Date.now() - since),
      });
      if (!result) throw new Error(`${asked.id} runs already`);
      const iv = crypto.getRandomValues(new Uint8Array(12));
      return await sealForNode(tokenHash, nodeWorkPlace(work, 'result'), iv, result);
    } finally {
      clearInterval(alive);
    }
  };
}

/** Says what it is, again and again, so that the server knows that it is there. */
async function greet(parts: QueueWorkerParts, signal: AbortSignal): Promise<void> {
  const { url, token, version, journal, capabilities, taskQueue, say } = parts;
  const declared = capabilities.map(({ name, description }) => ({ name, description }));
  const body = JSON.stringify({
    platform: `${process.platform} ${process.arch}`,
    version,
    journal: journal.id,
    capabilities: declared,
    task_queue: taskQueue,
    run: randomUUID(),
  });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (let known: boolean | undefined; !signal.aborted; ) {
    const time = AbortSignal.any([signal, AbortSignal.timeout(PING_MS)]);
    const answer = await fetch(`${url}/v1/nodes/hello`, { method: 'POST', headers, body, signal: time }).then(
      ({ status }) => status,
      (error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error),
    );
    if (signal.aborted) return;
    if (answer === 401) throw revoked(url);
    if ((answer === 204) !== known)
      say(answer === 204 ? `known to ${url}` : `not known to ${url} for now (${answer})`);
    known = answer === 204;
    await sleep(PING_MS, undefined, { signal }).catch(() => undefined);
  }
}
