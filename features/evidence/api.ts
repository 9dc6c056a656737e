/** Shows the operator which anchors fail. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { countFailing } from './anchor-store.ts';

export function createApiPart({ config, pool }: ApiCore): ApiPart {
  const names = config.evidence.anchors.map(({ name }) => name);
  return {
    gauges: [
      {
        name: 'tempoclaw_evidence_anchors_failing',
        help: 'Tenants whose newest head of the chain of evidence an anchor does not take',
        label: 'anchor',
        read: () => countFailing(pool, names),
      },
    ],
  };
}
