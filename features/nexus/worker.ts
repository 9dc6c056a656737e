/** Provides the Nexus service in a worker, when the settings name an endpoint. */
import { serviceHandler } from 'nexus-rpc';
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createNexusActivities } from './follow-turn.ts';
import { createRunTurn } from './run-turn.ts';
import { tempoclaw } from './service.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const isOn = Object.keys(core.config.nexus.endpoints).length > 0;
  return {
    activities: { ...createNexusActivities(core) },
    nexusServices: isOn ? [serviceHandler(tempoclaw, { runTurn: createRunTurn(core) })] : [],
  };
}
