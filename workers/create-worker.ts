/** Builds one worker: what it polls, how much runs at once, and the interceptors around every activity. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type NativeConnection, Worker, type WorkerOptions, type WorkflowBundle } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import type { Feature } from '#domain/feature.ts';
import { createActivities } from './create-activities.ts';
import type { ActivityParts } from './worker-core.ts';
import { ForeignNamespace } from '#domain/installation.ts';
import { ContainedWorker } from './contained/contained-worker.ts';
import { limitActivities } from './interceptors/activity-limit.ts';
import { countRunning } from './interceptors/count-running.ts';
import { createHeartbeats, HEARTBEAT_MS } from './interceptors/heartbeat.ts';
import { ownNamespaceOnly } from './interceptors/own-namespace.ts';
import { scrubFailures } from './interceptors/scrub-failures.ts';
import { LeanWorker } from './lean/lean-worker.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { watchWorkers } from './watch-workers.ts';
import manifest from '../package.json' with { type: 'json' };

export interface RunningWorker extends Pick<Worker, 'run' | 'shutdown'> {
  /** Closes what features have open, after `run` has resolved. */
  close(): Promise<void>;
}

/**
 * Milliseconds for which a worker that ends waits for the activities that follow what its last workflow tasks have
 * started. They come at once, unless the server is away.
 */
const FOLLOW_MS = 2_000;

/** Milliseconds between two checks of an idle worker whose the namespace is. */
const LOOK_MS = 1_000;

/**
 * Polls the shared task queue and, for work whose state is here, one of its own. `run` ends with ForeignNamespace when
 * another installation's server has replaced ours.
 */
export async function createWorker(
  parts: ActivityParts & {
    readonly features: readonly Pick<Feature, 'worker'>[];
    readonly connection: NativeConnection;
    /** Throws ForeignNamespace when the namespace belongs to another installation. */
    readonly belongs: () => Promise<void>;
    readonly bundle: WorkflowBundle;
    /** Identifies the bundle's code; it is the version of this worker when `worker.deploymentName` is set. */
    readonly buildId: string;
    readonly dataConverter?: DataConverter;
    /** Creates the worker that runs workflows, in place of the one of the settings. */
    readonly sdkWorker?: Pick<typeof Worker, 'create'>;
  },
): Promise<RunningWorker> {
  const { config } = parts;
  const { queue } = parts.machine;
  const { maxConcurrentActivities, maxConcurrentModelCalls, maxCachedWorkflows } = config.worker;
  let foreign: ForeignNamespace | undefined;
  const ending = Promise.withResolvers<void>();
  const shutdown = (): void => {
    endPolls(main);
    ending.resolve();
  };
  const leave = (error: ForeignNamespace): void => {
    if (foreign) return;
    foreign = error;
    shutdown();
  };
  const modules = await Promise.all(parts.features.flatMap(({ worker }) => worker?.() ?? []));
  const { activities, nexusServices, untilFollowed, close } = await createActivities(parts, modules);
  // Also when a container starts again with the same name and process id, it is another worker.
  const identity = `${process.pid}@${hostname()}/${randomBytes(4).toString('hex')}`;
  const heartbeats = createHeartbeats();
  parts.changes.subscribe('stops', heartbeats.stopWaits);
  const running = countRunning();
  const activityInterceptors = [
    running.interceptor,
    ownNamespaceOnly(parts.belongs, leave),
    heartbeats.interceptor,
    scrubFailures(parts.vault),
  ];
  const shared = {
    identity,
    connection: parts.connection,
    namespace: config.temporal.namespace,
    activities,
    dataConverter: parts.dataConverter,
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownGraceTime: config.worker.shutdownGraceSeconds * 1000,
  };
  const kind = parts.sdkWorker ?? (config.worker.lean ? LeanWorker : ContainedWorker);
  const main = await kind.create({
    ...shared,
    taskQueue: config.temporal.taskQueue,
    nexusServices,
    workflowBundle: parts.bundle,
    ...deploymentOf(config.worker.deploymentName, parts.buildId),
    interceptors: { activity: [...activityInterceptors, limitActivities(maxConcurrentActivities)] },
    maxConcurrentActivityTaskExecutions: maxConcurrentActivities + maxConcurrentModelCalls,
    maxConcurrentLocalActivityExecutions: maxConcurrentActivities,
    maxConcurrentWorkflowTaskExecutions: config.worker.maxConcurrentWorkflowTasks,
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
    // All calls of a step start at once, without a round trip each.
    maxEagerActivityReservationsPerWorkflowTask: 16,
    // After this time a turn whose worker was killed goes to another worker.
    stickyQueueScheduleToStartTimeout: '500 milliseconds',
  });
  const own =
    queue === undefined
      ? undefined
      : await Worker.create({
          ...shared,
          taskQueue: queue,
          // For model calls and commands, which are already running.
          interceptors: { activity: activityInterceptors },
          maxConcurrentActivityTaskExecutions: 2 * maxConcurrentActivities,
          maxConcurrentActivityTaskPolls: 2,
        });
  return {
    async run() {
      const timer = setInterval(() => {
        parts.belongs().catch((error: unknown) => {
          // The SDK's own polls report an unreachable server.
          if (error instanceof ForeignNamespace) leave(error);
        });
      }, LOOK_MS);
      const watch = watchWorkers({
        pool: parts.pool,
        failLostCalls: parts.temporal.failLostCalls,
        identity,
        about: () => ({ version: manifest.version, build: parts.buildId, running: running.running() }),
        onLost: (lost, calls) =>
          parts.log.warn({ lost, calls }, 'a worker is lost; its model calls start again'),
        onError: (error) => parts.log.warn({ err: error }, 'the beats of workers could not be exchanged'),
      });
      try {
        await runBoth(main, own, ending.promise, untilFollowed);
      } finally {
        clearInterval(timer);
        await watch.close();
      }
      if (foreign) throw foreign;
    },
    shutdown,
    close,
  };
}

/** Polls the queue of its own until what the last workflow tasks here have started is followed. */
async function runBoth(
  main: Worker,
  own: Worker | undefined,
  ending: Promise<void>,
  untilFollowed: () => Promise<void>,
): Promise<void> {
  const running = main.run();
  const followed = async (): Promise<void> => {
    try {
      await Promise.race([ending, running]);
      await withTimeout(FOLLOW_MS, running.then(untilFollowed));
    } finally {
      if (own) endPolls(own);
    }
  };
  await Promise.all([running, followed(), own?.run()]);
}

/** A worker that is already shutting down refuses another shutdown. */
function endPolls(worker: Worker): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

/**
 * DU-5. Open runs follow the deployment's current version: each change of the workflows must first replay the stored
 * histories.
 */
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
