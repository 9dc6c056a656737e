/**
 * Fields that the fast path adds to the messages between a turn's workflow and its activities. The plain engine does
 * not know these fields and passes messages on unchanged. A worker or a run without the fast path runs every step as an
 * ordinary activity. "Inline" means within the workflow task.
 */
import type { EngineHints } from '#domain/turn/turn.ts';
import type {
  CallModelInput,
  CallModelResult,
  PlannedCall,
  TurnActivities,
} from '#domain/turn/turn-activities.ts';

/** Hints for the start of a turn. */
export interface InlineHints extends EngineHints {
  /**
   * Its first model call is tried inline, because it is likely to end immediately, or because nobody waits for a
   * receipt.
   */
  readonly inline_model?: true | undefined;
}

export interface InlineModelInput extends CallModelInput {
  /** Attempts before this activity's own: those that started inline or continued from there. */
  readonly priorAttempts?: number;
  /**
   * Names the workflow task in which it runs, by the length of the history before it. Where a task was prolonged because
   * its local activities took long, a replay sees neither the same length nor the same time. So the workflow must not
   * decide by them: the worker does, and its answer is in the history.
   */
  readonly task?: number;
}

export interface InlineCall extends PlannedCall {
  /** It runs whole as a local activity: it is short, and its row is its durable result. */
  readonly local?: true | undefined;
  /** It usually ends immediately: it may start inline, and continues as an activity when it has not ended there. */
  readonly inline?: true | undefined;
}

export interface InlineNext {
  /** The model answered so fast that the next step needs no task of its own, and this one has not lasted long. */
  readonly inlineNext?: true | undefined;
}

/**
 * It takes longer than a workflow task should: an activity on this queue, its worker's own, continues it. Without a
 * queue nothing has started.
 */
interface ContinuedModelCall {
  readonly kind: 'continues';
  readonly queue?: string | undefined;
}

export type InlineModelResult = (CallModelResult & InlineNext) | ContinuedModelCall;

export interface InlineTurnActivities extends Omit<TurnActivities, 'call_model'> {
  call_model(input: InlineModelInput): Promise<InlineModelResult>;
}
