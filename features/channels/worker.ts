/** What the tools message and create_forum_topic need in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createOwnChannels } from './activities/own-channels.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  return {
    tools: { channels: createOwnChannels({ ...core, services: core.config.channels }) },
  };
}
