/** Runs a tool host: a Temporal worker that has only the activities of its tools. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { OfficialSettings } from '#config/temporal-connection.ts';
import { HOST_LIMITS, HOST_WORK } from '../contract.ts';
import { createHostActivities } from './host-activities.ts';
import type { LoadedTool } from './load-tools.ts';

export interface HostParts {
  readonly temporal: OfficialSettings;
  readonly queues: { readonly runs: string; readonly probes: string };
  readonly sealKey: Uint8Array<ArrayBuffer>;
  readonly tools: readonly LoadedTool[];
  /** Called when it takes calls. */
  readonly onReady: () => void;
  readonly signal: AbortSignal;
}

/** Resolves when `signal` is aborted and what ran has ended. */
export async function serveTools(parts: HostParts): Promise<void> {
  const { temporal, queues, sealKey, tools, onReady, signal } = parts;
  const { namespace = 'default', ...target } = temporal;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const connection = await NativeConnection.connect(target);
  try {
    const byName = new Map(tools.map(({ tool, definition }) => [definition.name, tool]));
    const activities = createHostActivities(byName, sealKey);
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
