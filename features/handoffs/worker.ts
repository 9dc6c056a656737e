/** Provides what the tool handoff needs in a worker. */
import { createAgentLinks } from '#activities/assignments/agent-links.ts';
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createHandoffs } from './transfer.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  return { tools: { handoffs: createHandoffs({ ...core, links: createAgentLinks(core) }) } };
}
