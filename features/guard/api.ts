/** What guarded calls need of the API process. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    readonly guard: {
      /** How long an approval waits unless its terms say otherwise. */
      readonly approvalSeconds: number;
    };
  }
}

export function createApiPart({ config }: ApiCore): ApiPart {
  return { deps: { guard: { approvalSeconds: config.approvals.expirySeconds } } };
}
