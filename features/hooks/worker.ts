/** Runs hooks in a worker, around prompts and calls. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createHooks } from './activities.ts';

export function createWorkerPart(core: WorkerCore): WorkerPart {
  const hookHost = () => core.extensions('hookHost')[0];
  const { config, resolveOf: resolve, resolveSecret: resolveSetting } = core;
  return { guard: createHooks({ ...core, settings: config.hooks, resolve, resolveSetting, hookHost }) };
}
