/** Runs a tool host: a Temporal worker that has only the activities of its tools and hooks. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { OfficialSettings } from '#config/temporal-connection.ts';
import { HOST_LIMITS, HOST_WORK, type HostQueues } from '../contract.ts';
import { createHostActivities } from './host-activities.ts';
import type { LoadedHook } from './load-hooks.ts';
import type { LoadedTool } from './load-tools.ts';

export interface HostParts {
  readonly temporal: OfficialSettings;
  readonly queues: HostQueues;
  readonly sealKey: Uint8Array<ArrayBuffer>;
  readonly tools: readonly LoadedTool[];
  readonly hooks: readonly LoadedHook[];
  /** Called when it takes calls. */
  readonly onReady: () => void;
  readonly signal: AbortSignal;
}

/** Resolves when `signal` is aborted and what ran has ended. */
export async function serveTools(parts: HostParts): Promise<void> {
  const { temporal, queues, sealKey, tools, hooks, onReady, signal } = parts;
  const { namespace = 'default', ...target } = temporal;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const connection = await NativeConnection.connect(target);
  try {
    const byName = new Map(tools.map(({ tool, definition }) => [definition.name, tool]));
    const hooksByName = new Map(hooks.map(({ hook, definition }) => [definition.name, hook]));
    const activities = createHostActivities(byName, hooksByName, sealKey);
    const workerOf = (taskQueue: string, type: keyof typeof activities): Promise<Worker> =>
      Worker.create({
        connection,
        namespace,
        taskQueue,
        activities: { [type]: activities[type] },
        maxConcurrentActivityTaskExecutions: HOST_LIMITS.atOnce,
        shutdownGraceTime: HOST_WORK.drainMs,
      });
    const workers = [
      await workerOf(queues.runs, HOST_WORK.run),
      await workerOf(queues.probes, HOST_WORK.probe),
      ...(hooks.length > 0 ? [await workerOf(queues.hooks, HOST_WORK.hook)] : []),
    ];
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    onReady();
    await Promise.all(workers.map((worker) => worker.runUntil(aborted)));
  } finally {
    await connection.close();
  }
}
