/** Builds one worker of its rooms: what polls, how much at once, and what stands around every activity. */
import { type NativeConnection, Worker, type WorkerOptions, type WorkflowBundle } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import type { Feature } from '#domain/feature.ts';
import { createActivities } from './create-activities.ts';
import type { ActivityParts } from './worker-core.ts';
import { ForeignNamespace } from '#domain/installation.ts';
import { HEARTBEAT_MS, heartbeatInterceptor } from './interceptors/heartbeat.ts';
import { ownNamespaceOnly } from './interceptors/own-namespace.ts';
import { scrubFailures } from './interceptors/scrub-failures.ts';
import { LeanWorker } from './lean/lean-worker.ts';

export interface WorkerParts extends ActivityParts {
  readonly features: readonly Pick<Feature, 'worker'>[];
  readonly connection: NativeConnection;
  /** Throws ForeignNamespace when the namespace is another installation's. */
  readonly belongs: () => Promise<void>;
  readonly bundle: WorkflowBundle;
  /** Names the bundle's code; the version of this worker when `worker.deploymentName` is set. */
  readonly buildId: string;
  readonly dataConverter?: DataConverter;
}

export interface RunningWorker extends Pick<Worker, 'run' | 'shutdown'> {
  /** Closes what features have open; once `run` has resolved. */
  close(): Promise<void>;
}

/** Between two looks of a worker without work at whose the namespace is. */
const LOOK_MS = 1_000;

/**
 * Polls the task queue of all and, for what has begun here (fast-path/in-flight-work.ts), one of its own. `run` ends with ForeignNamespace when
 * another installation's server has taken the place of ours.
 */
export async function createWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { config } = parts;
  const { taskQueue } = config.temporal;
  const { queue } = parts.machine;
  const max = config.worker.maxConcurrentActivities;
  let foreign: ForeignNamespace | undefined;
  const shutdown = (): void => {
    // One that ends already refuses to be ended.
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const leave = (error: ForeignNamespace): void => {
    if (foreign) return;
    foreign = error;
    shutdown();
  };
  const modules = await Promise.all(parts.features.flatMap(({ worker }) => worker?.() ?? []));
  const ownQueue = queue === undefined ? undefined : { name: queue, max };
  const { activities, close } = await createActivities(parts, modules, ownQueue);
  const shared = {
    connection: parts.connection,
    namespace: config.temporal.namespace,
    activities,
    dataConverter: parts.dataConverter,
    interceptors: {
      activity: [ownNamespaceOnly(parts.belongs, leave), heartbeatInterceptor, scrubFailures(parts.vault)],
    },
    maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentActivities,
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownGraceTime: config.worker.shutdownGraceSeconds * 1000,
  };
  const kind = config.worker.lean ? LeanWorker : Worker;
  const workers = [
    await kind.create({
      ...shared,
      taskQueue,
      workflowBundle: parts.bundle,
      ...deploymentOf(config.worker.deploymentName, parts.buildId),
      maxConcurrentLocalActivityExecutions: config.worker.maxConcurrentActivities,
      maxConcurrentWorkflowTaskExecutions: config.worker.maxConcurrentWorkflowTasks,
      maxCachedWorkflows: config.worker.maxCachedWorkflows,
      // All calls of a step start at once, without a round trip each (TEMPORAL §4).
      maxEagerActivityReservationsPerWorkflowTask: 16,
      // A turn whose worker was killed is handed to another one after this (DESIGN §7).
      stickyQueueScheduleToStartTimeout: '500 milliseconds',
    }),
  ];
  if (ownQueue)
    workers.push(
      await Worker.create({
        ...shared,
        taskQueue: ownQueue.name,
        // Model calls and commands, which run already.
        maxConcurrentActivityTaskExecutions: 2 * ownQueue.max,
        maxConcurrentActivityTaskPolls: 2,
      }),
    );
  return {
    async run() {
      const timer = setInterval(() => {
        parts.belongs().catch((error: unknown) => {
          // Of a server that is away the SDK's own polls tell.
          if (error instanceof ForeignNamespace) leave(error);
        });
      }, LOOK_MS);
      await Promise.all(workers.map((worker) => worker.run())).finally(() => clearInterval(timer));
      if (foreign) throw foreign;
    },
    shutdown,
    close,
  };
}

/** DU-5. Open runs follow the deployment's current version: each change of the workflows replays the kept histories first. */
function deploymentOf(
  deploymentName: string | undefined,
  buildId: string,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (deploymentName === undefined) return {};
  const version = { deploymentName, buildId };
  return {
    workerDeploymentOptions: {
      version,
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}
