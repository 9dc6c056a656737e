/** Provides what the tools message and create_forum_topic need in a worker. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { openArtifacts } from '#features/artifacts/index.ts';
import type { ChannelDelivery } from './activities/channel-delivery.ts';
import { deliverToChannel } from './activities/deliver-to-channel.ts';
import { createOwnChannels } from './activities/own-channels.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const artifacts = openArtifacts(core.pool, core.config, core.resolveSecret);
  const ownLink = () => core.extensions('ownLink')[0];
  const parts = { ...core, ...artifacts, services: core.config.channels, ownLink };
  return {
    tools: { channels: createOwnChannels(parts) },
    extends: {
      deliverer: {
        takes: ({ channel_key }) => channel_key !== null,
        // The row of a channel's webhook has only posts of channels.
        deliver: (tenant, delivery, signal) =>
          deliverToChannel(parts, tenant, delivery as ChannelDelivery, signal),
      },
    },
  };
}
