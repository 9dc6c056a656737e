/** Puts together what features contribute to the API. */
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config';
import type { ApiPart, Feature } from '#domain/feature.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Secrets } from '#store/secrets/open-secrets.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import type { ApiParts, FeatureDeps, JoinedParts } from './deps.ts';

/** What the parts of features are made from. */
export interface ApiCore {
  readonly config: Config;
  readonly pool: Pool;
  readonly temporal: TemporalAccess;
  readonly secrets: Pick<Secrets, 'sealer' | 'vault' | 'changes'>;
  readonly egress: Egress;
  /** The secret that signs tokens. */
  readonly tokenSecret: string;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
}

export async function createApiParts(
  features: readonly Pick<Feature, 'api'>[],
  core: ApiCore,
): Promise<ApiParts> {
  const modules = await Promise.all(features.flatMap(({ api }) => api?.() ?? []));
  const parts: readonly ApiPart[] = modules.map((module) => module.createApiPart(core));
  const joined: Omit<JoinedParts, keyof FeatureDeps> = {
    async admitMessage(tenant, message) {
      let { context } = message;
      for (const part of parts)
        context = (await part.admitMessage?.(tenant, { ...message, context })) ?? context;
      return context;
    },
    async readBearer(token) {
      for (const part of parts) {
        const credential = await part.readBearer?.(token);
        if (credential) return credential;
      }
      return undefined;
    },
    async documentWritten(...change) {
      for (const part of parts) await part.documentWritten?.(...change);
    },
  };
  return {
    // The routes of a feature that is not installed are not served either.
    deps: Object.assign(joined, ...parts.map(({ deps }) => deps)) as JoinedParts,
    gauges: parts.flatMap(({ gauges }) => gauges ?? []),
    async start() {
      for (const part of parts) await part.start?.();
    },
  };
}
