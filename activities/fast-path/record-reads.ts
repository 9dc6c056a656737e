/** Records an answer with the results of its calls, and leaves to what follows in this worker what it would ask the ledger for. */
import type { NewEvent } from '#domain/event.ts';
import { answerIdOf } from '#domain/ids.ts';
import type { CallModelInput } from '#domain/turn.ts';
import type { BudgetDesk } from '../budgets/budget-desk.ts';
import { callKey, type HandOver, stepKey } from './hand-over.ts';
import type { ShownResult } from '../tool-call/perform-tool.ts';
import type { TranscriptCache } from '../prompt/transcript-cache.ts';
import type { AnswerRecord, NewCall } from '#store/answer-record.ts';
import type { TurnLedger } from '#store/turn-ledger.ts';

export interface RecordReadsDeps {
  readonly ledger: Pick<TurnLedger, 'recordReads'>;
  readonly transcripts: Pick<TranscriptCache, 'known'>;
  readonly handOver: HandOver;
  readonly budgets: Pick<BudgetDesk, 'request'>;
}

/** `results` are of all calls, by their ids. `refused`: another attempt has recorded the step, or it is to be answered anew. */
export async function recordReads(
  { ledger, transcripts, handOver, budgets }: RecordReadsDeps,
  input: CallModelInput,
  asked: {
    readonly answer: AnswerRecord;
    readonly calls: readonly NewCall[];
    readonly events: readonly NewEvent[];
    readonly results: ReadonlyMap<string, ShownResult>;
  },
): Promise<'recorded' | 'refused'> {
  const { tenant, session, turn, step } = input;
  const known = transcripts.known(tenant, session);
  const calls = asked.calls.map((call): NewCall => {
    const result = asked.results.get(call.id);
    if (!result) return call;
    const { outcome, code, text } = result;
    return { ...call, state: 'done', ran: true, ok: outcome.ok, ...(code ? { code } : {}), result: text };
  });
  const results = Array.from(asked.results);
  const { recorded, next } = await ledger.recordReads(input, {
    answer: asked.answer,
    calls,
    events: [...asked.events, ...results.flatMap(([, result]) => result.events)],
    known,
    budget: budgets.request(1, answerIdOf(turn, step + 1)),
  });
  if (!recorded) return 'refused';
  const now = performance.now();
  for (const [call, { outcome }] of results) handOver.results.put(callKey(tenant, call), outcome, now);
  if (next) {
    const item = { basis: next, after: known.position, summaryAfter: known.summaryPosition };
    handOver.steps.put(stepKey(tenant, turn, step + 1), item, now);
  }
  return 'recorded';
}
