/** Provides the servers that the tool openai_compat_call calls. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createOpenAiServers } from './openai-servers.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  return {
    tools: { openAiServers: createOpenAiServers({ ...core, providers: core.config.models.providers }) },
  };
}
