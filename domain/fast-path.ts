/**
 * What the fast path adds to the messages between a turn's workflow and its activities. The plain engine knows none of
 * these fields: it passes messages on as they are, and a worker or a run without the fast path goes the plain way.
 * Inline is within the workflow task.
 */
import type { CallModelInput, CallModelResult, EngineHints, PlannedCall, TurnActivities } from './turn.ts';

/** For a turn that starts. */
export interface InlineHints extends EngineHints {
  /** Its first model call is tried inline: it is likely to end immediately, or nobody waits for a receipt. */
  readonly inline_model?: true | undefined;
}

export interface InlineModelInput extends CallModelInput {
  /** Attempts before this activity's own: those that began inline or went on from there. */
  readonly priorAttempts?: number;
}

export interface InlineCall extends PlannedCall {
  /** It runs whole as a local activity: it is short, and its row is its durable result. */
  readonly local?: true | undefined;
  /**
   * It mostly ends immediately: it may begin inline, and goes on as an activity of its own when it has not ended there.
   */
  readonly inline?: true | undefined;
}

export interface InlineNext {
  /** The model answered so quickly that the next step need not be a task of its own. */
  readonly inlineNext?: true | undefined;
}

/**
 * It takes longer than a workflow task should: an activity on this queue, its worker's own, goes on with it. Without
 * one nothing has begun.
 */
interface ContinuedModelCall {
  readonly kind: 'continues';
  readonly queue?: string | undefined;
}

export type InlineModelResult = (CallModelResult & InlineNext) | ContinuedModelCall;

export interface InlineTurnActivities extends Omit<TurnActivities, 'call_model'> {
  call_model(input: InlineModelInput): Promise<InlineModelResult>;
}
