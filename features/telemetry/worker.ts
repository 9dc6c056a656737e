/** Exports turns from a worker, when the settings name a receiver. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { targetsOf } from './settings.ts';

export async function createWorkerPart({ config, pool, log }: WorkerCore): Promise<WorkerPart> {
  const settings = config.telemetry;
  const targets = targetsOf(settings);
  if (!targets) return {};
  const { createExporters } = await import('./exporters.ts');
  const { exportTurns } = await import('./export-turns.ts');
  const close = exportTurns({
    pool,
    settings,
    ...(await createExporters(settings, targets)),
    onError: (error) => log.warn({ err: error }, 'traces or metrics could not be exported'),
  });
  return { close };
}
