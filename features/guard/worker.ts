/** Starts the questions of guarded calls that no process has started. */
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { recoverQuestions } from './recover-questions.ts';

export function createWorkerPart({ pool, reach }: WorkerCore): WorkerPart {
  return { recover: () => recoverQuestions({ pool, reach }) };
}
