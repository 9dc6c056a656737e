/**
 * Brings the index of one scope's memory up to its documents, and the knowledge graph where the agent has one. Whoever writes a document
 * starts it, or tells the run that goes on.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { DocumentScope } from '#domain/document.ts';
import { INDEX_DOCUMENT, type MemoryActivities } from '#domain/memory.ts';
import { inputProblem } from '#domain/start-problem.ts';
import { INDEXING } from './activity-options.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const writtenSignal = defineSignal(INDEX_DOCUMENT.signals.written);

/** Activities of one run; each writes some ten events. */
const STEPS = 500;
/** As long as a model that failed is left alone (activities/model/embed.ts). */
const REST = '1 minute';

export async function indexDocument(scope: DocumentScope): Promise<void> {
  refuseWrongStart(inputProblem(INDEX_DOCUMENT.type, scope, ['tenant', 'agent'], []));
  const { index_documents, extract_knowledge } = proxyActivities<MemoryActivities>(INDEXING);
  let written = 0;
  let steps = 0;
  let extraction: Promise<void> | undefined;
  let failure: unknown;
  setHandler(writtenSignal, () => {
    written += 1;
  });
  /** Beside the index, so that words are found while a model reads. */
  const extract = async (): Promise<void> => {
    for (; steps < STEPS; steps += 1) {
      const { pending, waits } = await extract_knowledge(scope);
      if (pending === 0) return;
      if (waits) await sleep(REST);
    }
  };
  const end = (problem?: unknown): void => {
    extraction = undefined;
    failure = problem;
  };
  for (; steps < STEPS; steps += 1) {
    const seen = written;
    const { pending, waits, unread } = await index_documents(scope);
    setCurrentDetails(
      waits
        ? `${pending} documents wait for the model for vectors`
        : `${pending} documents are to be indexed`,
    );
    if (unread !== undefined) extraction ??= extract().then(end, end);
    const isWritten = (): boolean => written > seen;
    if (waits) await condition(isWritten, REST);
    else if (pending === 0 && extraction) await condition(() => isWritten() || extraction === undefined);
    else if (pending === 0 && !isWritten()) return;
    if (failure !== undefined) throw failure;
  }
  await extraction;
  await continueAsNew<typeof indexDocument>(scope);
}
