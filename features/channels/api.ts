/** Channels in the API: it calls services, and checks messages that name a channel. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart, MessageToAdmit } from '#domain/feature.ts';
import { Failure } from '#domain/errors.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import { createConnectChannel } from './activities/connect-channel.ts';
import type { ConnectChannel } from './contract.ts';
import { findChannel } from './store/channel-store.ts';
import { throughWebChannel } from './web/web-channel.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    readonly connectChannel: ConnectChannel;
  }
}

export function createApiPart({ config, pool, secrets, egress }: ApiCore): ApiPart {
  return {
    deps: {
      connectChannel: createConnectChannel({
        pool,
        sealer: secrets.sealer,
        resolveOf: secrets.vault.resolve,
        egress,
        egressSettings: config.egress,
        services: config.channels,
      }),
    },
    async admitMessage(tenant, message) {
      const db = forTenant(pool, tenant);
      await refuseChannel(db, message);
      return throughWebChannel(db, message.session, message.context);
    },
  };
}

/**
 * Answers in a channel's session are posted in its chat. A user's key must not post to other people, nor take over a
 * chat.
 */
async function refuseChannel(db: TenantDb, { context, confinedTo, session }: MessageToAdmit): Promise<void> {
  if (confinedTo === null || confinedTo === undefined) return;
  const isNamed = (name: string | undefined): name is string => name !== undefined;
  const [prefix, ...rest] = session.split(':');
  const names = [context.channel, rest.length > 0 ? prefix : undefined].filter(isNamed);
  for (const name of names)
    if (await findChannel(db, name))
      throw new Failure('Forbidden', `${name} is a chat channel: its messages come from its service`);
}
