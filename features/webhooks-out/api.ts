/** Shows the operator how many endpoints fail. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { countFailing } from './store/webhook-store.ts';

export function createApiPart({ pool }: ApiCore): ApiPart {
  return {
    gauges: [
      {
        name: 'tempoclaw_deliveries_failing',
        help: 'Endpoints whose newest delivery failed, or that were disabled for it',
        label: 'kind',
        read: () => countFailing(pool),
      },
    ],
  };
}
