/**
 * The contract of the `evaluateLoop` workflow (DE-4): one agent makes and another judges, until it approves or the
 * rounds are used up. Each round of each agent has its own session, as a child workflow.
 */
import { toBeJudged } from '#domain/text/judged-text.ts';

export const EVALUATE_LIMITS = { rounds: 3, maxRounds: 5, secondsPerRole: 600, task: 100_000 } as const;

export const EVALUATION_STATUSES = ['running', 'approved', 'not_approved', 'failed', 'cancelled'] as const;
export type EvaluationStatus = (typeof EVALUATION_STATUSES)[number];
export type EvaluationEndStatus = Exclude<EvaluationStatus, 'running'>;

export const EVALUATION_ROLES = ['generator', 'evaluator'] as const;
export type EvaluationRole = (typeof EVALUATION_ROLES)[number];

export interface EvaluateLoopInput {
  readonly tenant: string;
  readonly id: string;
  readonly generator: string;
  readonly evaluator: string;
  readonly rounds: number;
  /** Scrubbed; the web UI shows it. */
  readonly label: string;
  readonly user?: string;
  /** It is a task of a team's board, which it claims first. */
  readonly has_task?: true;
  /** It was ended from outside: this run only records that and notifies waiting workflows. */
  readonly lost?: true;
}

/** What a run returns. Drafts and verdicts are rows; their previews are here for people. */
export interface EvaluateLoopOutcome {
  readonly evaluation_id: string;
  readonly status: EvaluationEndStatus;
  readonly rounds_used: number;
  readonly passed: boolean;
  readonly rounds: readonly EvaluationRoundPreview[];
  readonly ok: boolean;
  readonly recorded: true;
}

export interface EvaluationRoundPreview {
  readonly round: number;
  readonly draft: string;
  readonly verdict?: 'approved' | 'rejected';
  readonly feedback?: string;
}

export interface EvaluationState {
  readonly evaluation_id: string;
  readonly status: EvaluationStatus;
  readonly round: number;
  readonly max_rounds: number;
  readonly doing: EvaluationRole | null;
  readonly rounds: readonly EvaluationRoundPreview[];
}

/** One agent's part in one round. */
export interface RoundPart {
  readonly tenant: string;
  readonly id: string;
  readonly round: number;
  readonly role: EvaluationRole;
}

/** The outcome of the part; `problem` when the agent produced nothing. */
export interface RoundPartEnd {
  readonly preview: string;
  /** The verdict of the evaluator; absent for the generator. */
  readonly verdict?: 'approved' | 'rejected';
  readonly problem?: string;
}

/** Each is safe to repeat: the first write stays. */
export interface EvaluationActivities {
  /** Writes the agent's instructions into a new session. Undefined when the evaluation was stopped before. */
  prepare_round(
    input: RoundPart,
  ): Promise<{ readonly session_key: string; readonly message_id: string } | undefined>;
  record_round(input: RoundPart): Promise<RoundPartEnd>;
}

/** 3 by default and for 0 or less; at most 5. */
export function roundsOf(requested: number | undefined): number {
  if (requested === undefined || !Number.isFinite(requested) || requested < 1) return EVALUATE_LIMITS.rounds;
  return Math.min(Math.trunc(requested), EVALUATE_LIMITS.maxRounds);
}

export const EVALUATE_WORDS = {
  missing: 'generator, evaluator, and task are required',
  generate: (task: string, context: string | undefined, criteria: string | undefined) =>
    [
      task,
      ...(context ? [`Context:\n${context}`] : []),
      ...(criteria ? [`It will be judged by: ${criteria}`] : []),
    ].join('\n\n'),
  revise: (task: string, round: number, rounds: number, feedback: string, draft: string) =>
    `[Revision — Round ${round}/${rounds}]\n\nTask:\n${task}\n\nYour previous result:\n${draft}\n\nEvaluator feedback: ${feedback}\n\nRevise it. Answer with the whole revised result.`,
  evaluate: (task: string, draft: string, criteria: string | undefined, round: number, rounds: number) =>
    toBeJudged(`[Evaluation — Round ${round}/${rounds}]`, task, draft, criteria),
  failed: (role: EvaluationRole, agent: string, round: number, why: string) =>
    `${role} "${agent}" failed in round ${round}: ${why}`,
  approved: (rounds: number, draft: string) =>
    `Evaluate-optimize loop completed in ${rounds} round(s).\n\n${draft}`,
  exhausted: (rounds: number, feedback: string, draft: string) =>
    `Evaluate-optimize loop reached max rounds (${rounds}) without evaluator approval.\n\nLast feedback: ${feedback}\n\nLast output:\n${draft}`,
} as const;
