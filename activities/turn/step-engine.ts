/**
 * The interface of the engine that runs steps, and the plain engine: each call is an activity, and each record a
 * commit. The plain engine is complete. Another one may keep more between two activities, and writes the same rows.
 */
import type { AgentConfig } from '#domain/agent.ts';
import type { NewEvent } from '#domain/event.ts';
import type {
  CallModelInput,
  CallModelResult,
  RunToolInput,
  RunToolResult,
} from '#domain/turn/turn-activities.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { AnswerFate, AnswerRecord } from '#store/turns/answer-record.ts';
import type { BudgetRequest } from '#store/budgets/budget-ledger.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { type Attempt, attemptNow } from '../attempt.ts';
import type { KnownTranscript } from '../prompt/transcript-cache.ts';
import type { ClaimedCall, RunnableCall } from '../tool-call/claimed-call.ts';
import type { CallPlan, CallScheduler } from '../tool-call/plan-calls.ts';
import type { ReadBasis, Step } from './step.ts';

export interface AnswerToRecord {
  readonly step: Step;
  readonly plan: CallPlan;
  readonly answer: AnswerRecord;
  readonly events: readonly NewEvent[];
}

export type ModelWork = (input: CallModelInput, attempt: Attempt) => Promise<CallModelResult>;

/** An engine may return more than `CallModelResult` to its own steps in the workflow. */
export type ModelActivity = (input: CallModelInput) => Promise<unknown>;

/** With `claimed` it runs a call that was claimed for it. */
export type ToolWork = (
  input: RunToolInput,
  attempt: Attempt,
  claimed?: ClaimedCall,
) => Promise<RunToolResult>;

/** The properties of a tool that an activity uses. */
export interface ActivityTool {
  readonly name: string;
  readonly limits: Pick<Tool['limits'], 'inline'>;
}

/** The one activity of all tools that are rows. The plan of a call says how it runs. */
export const ANY_TOOL = { name: 'default', limits: { inline: true } } as const;

/** A query for the step after a call, made together with the call's result. */
export interface NextStepQuery {
  readonly known: KnownTranscript;
  readonly budget: BudgetRequest;
}

export interface StepEngine extends CallScheduler {
  /** The task queue that only this worker polls, for work whose state only this worker has. */
  readonly queue?: string;
  /** Create activities from their work. */
  modelActivity(work: ModelWork): ModelActivity;
  toolActivity(tool: ActivityTool, work: ToolWork): (input: RunToolInput) => Promise<RunToolResult>;
  /** What was read for this step together with the previous result; undefined when it must be read. */
  knownBasis(input: CallModelInput, attempt: Attempt, known: KnownTranscript): ReadBasis | undefined;
  /** The result that the call already has; undefined when the ledger must be queried. */
  knownResult(input: RunToolInput): RunToolResult | undefined;
  beforeModelCall(attempt: Attempt, agent: AgentConfig): void;
  /** `refused`: another attempt has recorded the step, or it must be answered again. */
  recordAnswer(answer: AnswerToRecord): Promise<Exclude<AnswerFate, 'over'>>;
  /** `seconds` is the model's time for the answer. */
  afterAnswer(result: CallModelResult, agent: AgentConfig, model: string, seconds: number): CallModelResult;
  /** The query for the next step with the result of this call; undefined for none. */
  nextStepQuery(tenant: string, call: RunnableCall): NextStepQuery | undefined;
  /** Called after the query. */
  keepNextStep(tenant: string, call: RunnableCall, known: KnownTranscript, next: StepBasis): void;
  /** Ends what still runs of a turn that no activity waits for; for the code that ends the turn. */
  endDetached(tenant: string, turn: string): Promise<void>;
  /**
   * Resolves when activities on `queue` have taken over all that runs beyond its workflow task, or it has ended. For
   * the end of the worker, once no workflow task runs in it.
   */
  untilFollowed(): Promise<void>;
}

export function createPlainEngine(ledger: Pick<TurnLedger, 'recordAnswer'>): StepEngine {
  return {
    modelActivity: (work) => (input) => work(input, attemptNow()),
    toolActivity: (_tool, work) => (input) => work(input, attemptNow()),
    knownBasis: () => undefined,
    knownResult: () => undefined,
    scheduled: (call) => call,
    beforeModelCall: () => undefined,
    async recordAnswer({ step, plan, answer, events }) {
      const fate = await ledger.recordAnswer(step, answer, plan.calls, plan.approvals, events);
      return fate === 'over' ? 'refused' : fate;
    },
    afterAnswer: (result) => result,
    nextStepQuery: () => undefined,
    keepNextStep: () => undefined,
    endDetached: () => Promise.resolve(),
    untilFollowed: () => Promise.resolve(),
  };
}
