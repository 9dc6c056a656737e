/**
 * Updates the index of one scope's memory to its documents, its documents to what was said in conversations, and other
 * features to the index. A writer of a document starts it, or signals the current run; the sweep does so for
 * conversations.
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
import type { DocumentScope } from '#domain/files/document.ts';
import { INDEX_DOCUMENT, type MemoryActivities } from './contract.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { INDEXING } from '#workflows/activity-options.ts';
import { refuseWrongStart } from '#workflows/steps/refuse-start.ts';

const writtenSignal = defineSignal(INDEX_DOCUMENT.signals.written);

type ReadByModel = MemoryActivities['read_documents' | 'record_conversations'];

/** Activities of one run; each writes some ten events. */
const STEPS = 500;
/** As long as a failed model is not called again (activities/model/embed.ts). */
const REST = '1 minute';

export async function indexDocument(scope: DocumentScope): Promise<void> {
  refuseWrongStart(inputProblem(INDEX_DOCUMENT.type, scope, ['tenant', 'agent'], []));
  const { index_documents, read_documents, record_conversations } =
    proxyActivities<MemoryActivities>(INDEXING);
  let written = 0;
  let steps = 0;
  const reading = new Map<ReadByModel, Promise<void>>();
  let failure: unknown;
  setHandler(writtenSignal, () => {
    written += 1;
  });
  /** It runs beside the index, so that words are found while a model reads. */
  const read = (part: ReadByModel): void => {
    if (reading.has(part)) return;
    const end = (problem?: unknown): void => {
      reading.delete(part);
      failure ??= problem;
    };
    reading.set(part, until(part).then(end, end));
  };
  const until = async (part: ReadByModel): Promise<void> => {
    for (; steps < STEPS; steps += 1) {
      const { pending, waits } = await part(scope);
      if (pending === 0) return;
      if (waits) await sleep(REST);
    }
  };
  for (; steps < STEPS; steps += 1) {
    const seen = written;
    const { pending, waits, unread, unrecorded } = await index_documents(scope);
    setCurrentDetails(
      waits
        ? `${pending} documents wait for the model for vectors`
        : `${pending} documents are to be indexed`,
    );
    if (unread !== undefined) read(read_documents);
    if (unrecorded !== undefined) read(record_conversations);
    const isWritten = (): boolean => written > seen;
    const running = reading.size;
    if (waits) await condition(isWritten, REST);
    else if (pending === 0 && reading.size > 0) await condition(() => isWritten() || reading.size < running);
    else if (pending === 0 && !isWritten()) return;
    if (failure !== undefined) throw failure;
  }
  await Promise.all(reading.values());
  await continueAsNew<typeof indexDocument>(scope);
}
