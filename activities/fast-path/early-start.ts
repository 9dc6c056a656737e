/**
 * Begins a call in the moment its answer is recorded: the claim is part of that commit, and the tool runs while the workflow task
 * comes round to ask for it. Only when that is certain to come next, in this very worker: the answer's own activity runs within
 * the workflow task, nothing else was asked for, and nobody needs to be asked.
 */
import { randomUUID } from 'node:crypto';
import type { NewEvent } from '#domain/event.ts';
import type { CallModelInput, RunToolInput } from '#domain/turn.ts';
import { runningOf } from './allowed-reads.ts';
import { FRESH_MS, type Running } from './hand-over.ts';
import type { CallPlan } from '../tool-call/plan-calls.ts';
import type { AnswerFate, AnswerRecord, NewCall } from '#store/answer-record.ts';
import type { StepBasis, TurnLedger } from '#store/turn-ledger.ts';
import type { Attempt } from './take-over.ts';

export interface Claimed {
  readonly running: Running;
  readonly fence: string;
}

export interface EarlyStart {
  /** A place in the worker, to be used or given up; undefined when there is none. */
  readonly reserve: () =>
    | { begin(input: RunToolInput, runId: string, claimed: Claimed): void; giveUp(): void }
    | undefined;
  /** Ends what was begun for a turn and nobody follows; for who ends the turn. */
  readonly end: (tenant: string, turn: string) => Promise<void>;
}

/** By tool. */
export type EarlyStarts = ReadonlyMap<string, EarlyStart>;

export interface RecordAnswerDeps {
  readonly ledger: Pick<TurnLedger, 'recordAnswer'>;
  readonly earlyStarts: EarlyStarts;
  readonly rateLimit: { readonly perHour: number };
}

/** `readAt` (performance.now): when it was read. */
type Basis = Parameters<typeof runningOf>[1] &
  Pick<StepBasis, 'budget' | 'agent_current'> & { readonly readAt: number };

/** `refused`: another attempt has recorded the step, or it is to be answered anew. */
export async function recordAnswer(
  deps: RecordAnswerDeps,
  input: CallModelInput,
  attempt: Attempt,
  basis: Basis,
  {
    answer,
    plan,
    events,
  }: { readonly answer: AnswerRecord; readonly plan: CallPlan; readonly events: readonly NewEvent[] },
): Promise<Exclude<AnswerFate, 'over'>> {
  const { calls, approvals } = plan;
  const early = earlyCall(deps, input, attempt, basis, plan);
  if (early) {
    let fate: AnswerFate = 'over';
    try {
      const told = [...events, early.started];
      fate = await deps.ledger.recordAnswer(input, answer, [early.call], approvals, told);
    } finally {
      if (fate === 'recorded') early.begin();
      else early.giveUp();
    }
    if (fate !== 'over') return fate;
  }
  const fate = await deps.ledger.recordAnswer(input, answer, calls, approvals, events);
  return fate === 'over' ? 'refused' : fate;
}

interface EarlyCall {
  /** As it is to be recorded. */
  readonly call: NewCall;
  readonly started: NewEvent;
  /** Once it is recorded. */
  begin(): void;
  giveUp(): void;
}

/** Undefined when its activity is to claim it, as any other. */
function earlyCall(
  { earlyStarts, rateLimit }: RecordAnswerDeps,
  input: CallModelInput,
  attempt: Attempt,
  basis: Basis,
  { calls: [call, another], planned: [planned] }: CallPlan,
): EarlyCall | undefined {
  if (!call || another || !planned?.soon || call.verdict !== 'allow' || !attempt.awaitedBy())
    return undefined;
  // What it costs is reserved, and its token taken, by a claim of its own.
  if (basis.budget || rateLimit.perHour > 0) return undefined;
  if (!basis.agent_current || performance.now() - basis.readAt > FRESH_MS) return undefined;
  const place = earlyStarts.get(call.tool)?.reserve();
  if (!place) return undefined;
  const { id, tool, summary } = call;
  const fence = randomUUID();
  const running = { ...runningOf(input, basis, call), claimed: true };
  return {
    call: { ...call, state: 'running', ran: true, fence },
    started: { type: 'tool.started', data: { call_id: id, tool, summary, step: input.step } },
    begin: () => place.begin({ tenant: input.tenant, call: id }, attempt.runId, { running, fence }),
    giveUp: place.giveUp,
  };
}
