/** The fast path of one worker: fast work runs within the workflow task, and one commit replaces two. */
import type { InlineCall, InlineModelInput, InlineModelResult, InlineNext } from '../contract.ts';
import type { CallModelResult, RunToolInput, RunToolResult } from '#domain/turn/turn-activities.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { CommandPlace } from '@tempoclaw/shell-judge';
import { policyToolOf } from '#policy/call-rules.ts';
import type { Tool } from '#policy/define-tool.ts';
import { answerIdOf, isCallOf } from '#domain/ids.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import type { AnswerFate, NewCall } from '#store/turns/answer-record.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import type { BudgetGuard } from '#activities/budgets/budget-guard.ts';
import type { TranscriptCache } from '#activities/prompt/transcript-cache.ts';
import type { PerformDeps } from '#activities/tool-call/perform-tool.ts';
import type { ShownResult } from '#activities/tool-call/shown-result.ts';
import { attemptNow } from '#activities/attempt.ts';
import type { StartGate } from '#activities/start-gate.ts';
import { allowedReads } from './allowed-reads.ts';
import { earlyCall, type EarlyStart } from './early-start.ts';
import type { KnownTranscript } from '#activities/prompt/transcript-cache.ts';
import { type AnswerToRecord, createPlainEngine, type StepEngine } from '#activities/turn/step-engine.ts';
import { readAhead } from './read-ahead.ts';
import { createOneTimeCache } from './one-time-cache.ts';
import { createTaskClock } from './task-clock.ts';
import {
  createInFlightWork,
  type InFlightWork,
  type InlineAttempt,
  type OwnQueue,
} from './in-flight-work.ts';

export interface FastPathParts {
  readonly ledger: TurnLedger;
  readonly ownQueue: OwnQueue;
  readonly transcripts: Pick<TranscriptCache, 'known'>;
  readonly budgets: Pick<BudgetGuard, 'request'>;
  /** The ledger contains the token bucket: with a rate limit, all calls must be claimed. */
  readonly isRateLimited: boolean;
  /** Dependencies for running tools. */
  readonly perform: ForAnyTenant<PerformDeps>;
  readonly startGate: Pick<StartGate, 'isOpen'>;
}

/**
 * After a call this fast, the next step runs within the workflow task: the server's round trip is a twentieth of it.
 */
const QUICK_SECONDS = 0.35;

/** Number of models whose speed is remembered; for others each call is its own activity. */
const MAX_MODELS = 1_000;

/**
 * How long one workflow task continues with steps within it. It accepts neither messages nor stops until it ends, so
 * after this time an ordinary step ends it.
 */
const TASK_MS = 500;

const PATIENCE_MS = {
  model: 500,
  /** Most commands of agents only read, and end within this time. */
  tool: 150,
} as const;

export function createFastPath(parts: FastPathParts): StepEngine {
  const { ledger, ownQueue, transcripts, budgets, isRateLimited } = parts;
  const plain = createPlainEngine(ledger);
  /** Results of calls that were recorded with the answer that requested them. */
  const results = createOneTimeCache<RunToolResult>();
  /** What was read for a step together with the last result before it. */
  const steps = createOneTimeCache<{ readonly basis: StepBasis; readonly known: KnownTranscript }>();
  const earlyStarts = new Map<string, EarlyStart>();
  const quickModels = new Set<string>();

  /** Whether this model, or one of several, may be called inline, by the duration of its last answer in this worker. */
  const isQuick = (model: AgentConfig['model']): boolean =>
    [model].flat().some((one) => quickModels.has(one));

  function keepStep(key: string, basis: StepBasis, known: KnownTranscript): void {
    steps.put(key, { basis, known }, performance.now());
  }

  /** Records the answer with the results of its calls, and reads what the next step needs. */
  async function recordReads(
    { step: at, answer, plan, events }: AnswerToRecord,
    shown: ReadonlyMap<string, ShownResult>,
    known: KnownTranscript,
  ): Promise<'recorded' | 'refused'> {
    const { tenant, turn, step } = at;
    const { recorded, next } = await ledger.recordReads(at, {
      answer,
      calls: plan.calls.map((call) => doneCall(call, shown.get(call.id))),
      events: [...events, ...Array.from(shown.values()).flatMap((result) => result.events)],
      known,
      budget: budgets.request(1, answerIdOf(turn, step + 1)),
    });
    if (!recorded) return 'refused';
    const now = performance.now();
    for (const [call, { outcome }] of shown) results.put(callKey(tenant, call), outcome, now);
    if (next) keepStep(stepKey(tenant, turn, step + 1), next, known);
    return 'recorded';
  }

  /** Where permitted, the call starts with the record. */
  async function recordAndStart(record: AnswerToRecord): Promise<Exclude<AnswerFate, 'over'>> {
    const { step, answer, plan, events } = record;
    const early = isRateLimited ? undefined : earlyCall(earlyStarts, record);
    if (!early) return plain.recordAnswer(record);
    let fate: AnswerFate = 'over';
    try {
      const messages = [...events, early.started];
      fate = await ledger.recordAnswer(step, answer, [early.call], plan.approvals, messages);
    } finally {
      if (fate === 'recorded') early.start();
      else early.release();
    }
    return fate === 'over' ? plain.recordAnswer(record) : fate;
  }

  return {
    queue: ownQueue.name,
    ...inlineActivities(ownQueue, plain, earlyStarts),

    knownBasis({ tenant, turn, step, messages, settle = [] }, attempt, known) {
      const kept = steps.take(stepKey(tenant, turn, step));
      if (!kept || messages.length > 0 || settle.length > 0) return undefined;
      const { item, readAt } = kept;
      const isKnown =
        item.known.position === known.position && item.known.summaryPosition === known.summaryPosition;
      // The reservation of an earlier attempt is not ours.
      if (!isKnown || (item.basis.budget && attempt.number > 1)) return undefined;
      return { ...item.basis, readAt };
    },

    knownResult: ({ tenant, call }) => results.take(callKey(tenant, call))?.item,

    async recordAnswer(record) {
      const { step, plan } = record;
      if (!(await mayStart(parts.startGate, record))) return plain.recordAnswer(record);
      const isPlain = isRateLimited || step.agent.visible;
      const reads = isPlain ? [] : allowedReads(step, plan.calls);
      const known = transcripts.known(step.tenant, step.session);
      // Without a known position the whole transcript would be returned.
      const shown =
        known.position > 0
          ? await readAhead(await forTenant<PerformDeps>(parts.perform, step.tenant), record, reads)
          : undefined;
      return shown ? recordReads(record, shown, known) : recordAndStart(record);
    },

    nextStepQuery(tenant, { session, turn, step }) {
      const known = transcripts.known(tenant, session);
      // Without a known position another worker has the transcript, and will run the next step too.
      if (known.position === 0) return undefined;
      return { known, budget: budgets.request(1, answerIdOf(turn, step + 1)) };
    },
    keepNextStep(tenant, { turn, step }, known, next) {
      keepStep(stepKey(tenant, turn, step + 1), next, known);
    },

    scheduled(call, tool, { visible }, place): InlineCall {
      if (visible) return call;
      return {
        ...call,
        local: tool.limits.duration === 'short' ? true : undefined,
        inline: mayBeginInline(tool, place) ? true : undefined,
      };
    },
    beforeModelCall({ detach }: InlineAttempt, { model }) {
      if (!isQuick(model)) detach?.();
    },
    afterAnswer(result, { visible }, model, seconds): CallModelResult & InlineNext {
      if (seconds > QUICK_SECONDS) quickModels.delete(model);
      else if (quickModels.size < MAX_MODELS) quickModels.add(model);
      const next: InlineNext = { inlineNext: !visible && quickModels.has(model) ? true : undefined };
      return { ...result, ...next };
    },
  };
}

async function mayStart(
  { isOpen }: Pick<StartGate, 'isOpen'>,
  { step, plan }: AnswerToRecord,
): Promise<boolean> {
  const { tenant, turn, catalog } = step;
  for (const call of plan.calls) {
    const tool = catalog.find(call.tool)?.tool;
    if (tool && !(await isOpen({ tenant, of: { turn }, tool: policyToolOf(tool) }))) return false;
  }
  return true;
}

/**
 * Whether such a call may start within the workflow task. Starting a command in a container takes longer than that
 * waits.
 */
function mayBeginInline({ limits, mcp }: Tool, place: CommandPlace | undefined): boolean {
  return limits.inline === true && (mcp !== undefined || (place !== undefined && place !== 'image'));
}

/** The steps as local activities within the workflow task; `earlyStarts` receives those of the tools. */
function inlineActivities(
  ownQueue: OwnQueue,
  plain: StepEngine,
  earlyStarts: Map<string, EarlyStart>,
): Pick<StepEngine, 'modelActivity' | 'toolActivity' | 'endDetached' | 'untilFollowed'> {
  const clock = createTaskClock();
  let endModelCalls: InFlightWork<InlineModelInput, InlineModelResult>['endAll'] = async () => undefined;
  const follows: (() => Promise<void>)[] = [];
  return {
    modelActivity(work) {
      const { run, endAll, untilFollowed } = createInFlightWork<InlineModelInput, InlineModelResult>({
        keyOf: modelKey,
        work,
        patienceMs: PATIENCE_MS.model,
        max: ownQueue.max,
        priorAttempts: ({ priorAttempts = 0 }) => priorAttempts,
      });
      endModelCalls = endAll;
      follows.push(untilFollowed);
      return async (input: InlineModelInput) => {
        const began = input.task === undefined ? undefined : clock.beganAt(attemptNow().runId, input.task);
        const result = (await run(input)) ?? { kind: 'continues', queue: ownQueue.name };
        const isLong = began !== undefined && performance.now() - began >= TASK_MS;
        return isLong && result.kind !== 'continues' ? { ...result, inlineNext: undefined } : result;
      };
    },

    toolActivity(tool, work) {
      if (!tool.limits.inline) return plain.toolActivity(tool, work);
      const { run, reserve, endAll, untilFollowed } = createInFlightWork<RunToolInput, RunToolResult>({
        keyOf: ({ tenant, call }) => callKey(tenant, call),
        work,
        patienceMs: PATIENCE_MS.tool,
        max: ownQueue.max,
      });
      follows.push(untilFollowed);
      earlyStarts.set(tool.name, {
        reserve() {
          const slot = reserve();
          return (
            slot && {
              release: slot.release,
              start: (input, runId, claimed) =>
                slot.start(input, runId, (_input, attempt) => work(input, attempt, claimed)),
            }
          );
        },
        end: (tenant, turn) => endAll((input) => input.tenant === tenant && isCallOf(turn, input.call)),
      });
      return async (input) => (await run(input)) ?? { ok: false, continues: ownQueue.name };
    },
    async endDetached(tenant, turn) {
      await Promise.all([
        endModelCalls((input) => input.tenant === tenant && input.turn === turn),
        ...Array.from(earlyStarts.values(), ({ end }) => end(tenant, turn)),
      ]);
    },
    async untilFollowed() {
      await Promise.all(follows.map((untilFollowed) => untilFollowed()));
    },
  };
}

function callKey(tenant: string, call: string): string {
  return `${tenant}/${call}`;
}

function stepKey(tenant: string, turn: string, step: number): string {
  return `${tenant}/${turn}/${step}`;
}

/** The key contains the step's input: a lost workflow task that is repeated may contain more, which must be read. */
function modelKey({ tenant, turn, step, increases = 0, messages, settle = [] }: InlineModelInput): string {
  const brought = [...messages, ...settle].map(({ id }) => id);
  return [stepKey(tenant, turn, step), increases, ...brought].join('/');
}

function doneCall(call: NewCall, shown: ShownResult | undefined): NewCall {
  if (!shown) return call;
  const { outcome, code, text } = shown;
  return { ...call, state: 'done', ran: true, ok: outcome.ok, code: code ?? undefined, result: text };
}
