/** Gives each message that comes without a trace its own, so that models and MCP servers can continue it. */
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import { turnIdOf } from '#domain/ids.ts';
import { traceparentOf } from '#domain/turn/trace.ts';
import { targetsOf } from './settings.ts';
import { traceOfTurn } from './trace-of-turn.ts';

export function createApiPart({ config: { telemetry } }: Pick<ApiCore, 'config'>): ApiPart {
  if (!targetsOf(telemetry)) return {};
  return {
    async admitMessage(tenant, { id, context }) {
      const trace = traceOfTurn(tenant, turnIdOf(id), context, telemetry.sampleRatio);
      return { ...context, trace: traceparentOf(trace) };
    },
  };
}
