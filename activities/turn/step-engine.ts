/**
 * The seam of the fast path: all that a step asks of it, and the plain way, which declines everything. What a step does is the same
 * on both; the fast one does it within the workflow task, or with one commit in place of two (docs/performance.md).
 */
import type { CommandPlace } from '@tempoclaw/shell-judge';
import type { NewEvent } from '#domain/event.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { CallModelInput, CallModelResult, RunToolInput, RunToolResult } from '#domain/turn.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { AnswerFate, AnswerRecord } from '#store/answer-record.ts';
import type { BudgetRequest } from '#store/budget-ledger.ts';
import type { StepBasis } from '#store/step-basis.ts';
import type { TurnLedger } from '#store/turn-ledger.ts';
import type { KnownTranscript } from '../prompt/transcript-cache.ts';
import { type Attempt, attemptNow } from '../attempt.ts';
import type { ClaimedCall, RunnableCall } from '../tool-call/claimed-call.ts';
import type { CallPlan } from '../tool-call/plan-calls.ts';

/** `readAt` (performance.now): when its rules were read. */
export type ReadBasis = StepBasis & { readonly readAt: number };

export interface AnswerToRecord {
  readonly input: CallModelInput;
  readonly attempt: Attempt;
  readonly basis: ReadBasis & { readonly agent: AgentConfig };
  readonly catalog: Catalog;
  readonly plan: CallPlan;
  readonly answer: AnswerRecord;
  readonly events: readonly NewEvent[];
}

export type ModelWork = (input: CallModelInput, attempt: Attempt) => Promise<CallModelResult>;

/** With `claimed` it runs a call that was claimed for it. */
export type ToolWork = (
  input: RunToolInput,
  attempt: Attempt,
  claimed?: ClaimedCall,
) => Promise<RunToolResult>;

/** What an activity must know of its tool. */
export interface ActivityTool {
  readonly name: string;
  readonly limits: Pick<Tool['limits'], 'inline'>;
}

/** The one activity of all tools that are rows: whether a call of one is begun within the workflow task is said by its plan. */
export const ANY_TOOL = { name: 'default', limits: { inline: true } } as const;

export interface FastPath {
  /** The task queue that only this worker polls. */
  readonly queue?: string;
  /** The activities, made of their work. */
  modelActivity(work: ModelWork): (input: CallModelInput) => Promise<CallModelResult>;
  toolActivity(tool: ActivityTool, work: ToolWork): (input: RunToolInput) => Promise<RunToolResult>;
  /** What was read for this step with the result before it; undefined: it is to be read. */
  basisOf(input: CallModelInput, attempt: Attempt, known: KnownTranscript): ReadBasis | undefined;
  /** What became of the call already; undefined: the ledger is asked. */
  resultOf(input: RunToolInput): RunToolResult | undefined;
  /** `refused`: another attempt has recorded the step, or it is to be answered anew. */
  recordAnswer(answer: AnswerToRecord): Promise<Exclude<AnswerFate, 'over'>>;
  /** What to read for the next step with the result of this call; undefined: nothing. */
  readsWith(
    tenant: string,
    call: RunnableCall,
  ): { readonly known: KnownTranscript; readonly budget: BudgetRequest } | undefined;
  /** It has been read. */
  keep(tenant: string, call: RunnableCall, known: KnownTranscript, next: StepBasis): void;
  /** Whether short tools run within the workflow task. */
  readonly hasLocal: boolean;
  /** Whether such a call may begin within the workflow task. */
  isInline(tool: Tool, place: CommandPlace | undefined): boolean;
  /** Whether such a model, or one of several, may be asked within a workflow task, by what its last answer in this worker took. */
  isQuick(model: AgentConfig['model']): boolean;
  /** What an answer of the model has taken. */
  note(model: string, seconds: number): void;
  /** Ends what was begun for a turn and nobody follows; for who ends the turn. */
  endBegun(tenant: string, turn: string): Promise<void>;
}

export function createPlainPath(ledger: Pick<TurnLedger, 'recordAnswer'>): FastPath {
  return {
    modelActivity: (work) => async (input) => {
      // Tried in a workflow task for who waits: such a task is not held up here.
      const attempt = attemptNow(input.tried);
      return attempt.isAwaited() ? { kind: 'continues' } : work(input, attempt);
    },
    toolActivity: (_tool, work) => (input) => work(input, attemptNow()),
    basisOf: () => undefined,
    resultOf: () => undefined,
    async recordAnswer({ input, plan, answer, events }) {
      const fate = await ledger.recordAnswer(input, answer, plan.calls, plan.approvals, events);
      return fate === 'over' ? 'refused' : fate;
    },
    readsWith: () => undefined,
    keep: () => undefined,
    hasLocal: false,
    isInline: () => false,
    isQuick: () => false,
    note: () => undefined,
    endBegun: () => Promise.resolve(),
  };
}
