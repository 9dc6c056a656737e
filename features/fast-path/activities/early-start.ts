/**
 * Starts a call at the moment its answer is recorded. The claim is part of that commit, and the tool runs while the
 * workflow task prepares to request it. This happens only when the request is certain to come next, in this worker. The
 * answer's own activity must run within the workflow task, there must be no other call, and nobody may need to be
 * asked.
 */
import { randomUUID } from 'node:crypto';
import type { NewEvent } from '#domain/event.ts';
import type { InlineCall } from '../contract.ts';
import type { RunToolInput } from '#domain/turn/turn-activities.ts';
import type { NewCall } from '#store/turns/answer-record.ts';
import { runnableCall } from './allowed-reads.ts';
import type { ClaimedCall } from '#activities/tool-call/claimed-call.ts';
import { ANY_TOOL, type AnswerToRecord } from '#activities/turn/step-engine.ts';
import type { InlineAttempt } from './in-flight-work.ts';
import { FRESH_MS } from './one-time-cache.ts';

export interface EarlyStart {
  /** A slot in the worker, to be used or released; undefined when there is none. */
  readonly reserve: () =>
    | { start(input: RunToolInput, runId: string, claimed: ClaimedCall): void; release(): void }
    | undefined;
  /** Ends calls that were started for a turn and that no activity follows; for the code that ends the turn. */
  readonly end: (tenant: string, turn: string) => Promise<void>;
}

interface EarlyCall {
  /** The call as it will be recorded. */
  readonly call: NewCall;
  readonly started: NewEvent;
  /** Called after it is recorded. */
  start(): void;
  release(): void;
}

/** Undefined when its activity must claim it, like any other. `starts` is by tool. */
export function earlyCall(
  starts: ReadonlyMap<string, EarlyStart>,
  { step, plan }: AnswerToRecord,
): EarlyCall | undefined {
  const {
    calls: [call, another],
  } = plan;
  const [planned]: readonly InlineCall[] = plan.planned;
  if (!call || another || !planned?.inline || call.verdict !== 'allow') return undefined;
  const { isAwaited }: InlineAttempt = step.attempt;
  if (!isAwaited?.()) return undefined;
  // Its own claim reserves its cost.
  if (step.budget || !step.agent_current || performance.now() - step.readAt > FRESH_MS) return undefined;
  const slot = (starts.get(call.tool) ?? starts.get(ANY_TOOL.name))?.reserve();
  if (!slot) return undefined;
  const { id, tool, summary } = call;
  const fence = randomUUID();
  const running = { ...runnableCall(step, call), claimed: true };
  return {
    call: { ...call, state: 'running', ran: true, fence },
    started: { type: 'tool.started', data: { call_id: id, tool, summary, step: step.step } },
    start: () => slot.start({ tenant: step.tenant, call: id }, step.attempt.runId, { running, fence }),
    release: slot.release,
  };
}
