/**
 * Rounds of making and judging (DE-4): the generator and the evaluator each work in a session of their own in each round, as
 * child workflows, so that the web UI shows who did what. The turn that asked waits for it; drafts and verdicts are rows.
 */
import {
  ActivityFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import {
  EVALUATE_LIMITS,
  EVALUATE_LOOP,
  type EvaluateLoopInput,
  type EvaluateLoopOutcome,
  type EvaluationActivities,
  type EvaluationRole,
  type EvaluationRoundPreview,
  type EvaluationState,
  type EvaluationStatus,
  type FinishEvaluationInput,
  type StopEvaluationInput,
} from '#domain/evaluate-loop.ts';
import { markdownText } from '#domain/markdown.ts';
import { RECORD, WORK } from './activity-options.ts';
import { runSession } from './steps/run-session.ts';
import { inputProblem } from '#domain/start-problem.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const stopSignal = defineSignal<[StopEvaluationInput?]>(EVALUATE_LOOP.signals.stop);
const stateQuery = defineQuery<EvaluationState>(EVALUATE_LOOP.queries.state);

type End = Omit<FinishEvaluationInput, 'tenant' | 'evaluation_id'>;

interface Desk {
  status: EvaluationStatus;
  stop: StopEvaluationInput | undefined;
  round: number;
  doing: EvaluationRole | null;
  readonly rounds: EvaluationRoundPreview[];
}

export async function evaluateLoop(input: EvaluateLoopInput): Promise<EvaluateLoopOutcome> {
  refuseWrongStart(inputProblem('evaluateLoop', input, ['tenant', 'evaluation_id'], ['rounds']));
  const desk: Desk = { status: 'running', stop: undefined, round: 0, doing: null, rounds: [] };
  setHandler(stopSignal, (given) => {
    desk.stop ??= given ?? {};
  });
  setHandler(stateQuery, () => ({
    evaluation_id: input.evaluation_id,
    status: desk.status,
    round: desk.round,
    max_rounds: input.rounds,
    doing: desk.doing,
    rounds: desk.rounds,
  }));
  const end: End = input.lost
    ? { status: 'failed', lost: true }
    : await ofCancellation(() => rounds(input, desk));
  const { finish_evaluation } = proxyLocalActivities<EvaluationActivities>(RECORD);
  const { tenant, evaluation_id } = input;
  const { status } = await CancellationScope.nonCancellable(() =>
    finish_evaluation({ tenant, evaluation_id, ...end }),
  );
  desk.status = status;
  show(input, desk, null);
  const passed = status === 'approved';
  return {
    evaluation_id,
    status,
    rounds_used: desk.rounds.length,
    passed,
    rounds: desk.rounds,
    ok: passed || status === 'not_approved',
    recorded: true,
  };
}

async function ofCancellation(story: () => Promise<End>): Promise<End> {
  try {
    return await story();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return { status: 'cancelled' };
  }
}

async function rounds(input: EvaluateLoopInput, desk: Desk): Promise<End> {
  const { record_draft, record_verdict } = proxyActivities<EvaluationActivities>(WORK);
  for (let round = 1; round <= input.rounds; round += 1) {
    desk.round = round;
    const ref = { tenant: input.tenant, evaluation_id: input.evaluation_id, round };
    const failed = (role: EvaluationRole, why: string): End => ({
      status: 'failed',
      failed: { role, round, why },
    });

    const making = await work(input, desk, 'generator');
    if (desk.stop) return stopped(desk.stop);
    const draft = making === undefined ? await record_draft(ref) : { preview: '', problem: making };
    if (draft.problem !== undefined) return failed('generator', draft.problem);
    desk.rounds.push({ round, draft: draft.preview });

    const judging = await work(input, desk, 'evaluator');
    if (desk.stop) return stopped(desk.stop);
    if (judging !== undefined) return failed('evaluator', judging);
    const { verdict, preview, problem } = await record_verdict(ref);
    if (problem !== undefined) return failed('evaluator', problem);
    desk.rounds[round - 1] = {
      round,
      draft: draft.preview,
      verdict,
      feedback: preview === '' ? undefined : preview,
    };
    if (verdict === 'approved') return { status: 'approved' };
  }
  return { status: 'not_approved' };
}

/** Undefined when the agent has answered; else why it has not. */
async function work(input: EvaluateLoopInput, desk: Desk, role: EvaluationRole): Promise<string | undefined> {
  show(input, desk, role);
  const { prepare_round } = proxyActivities<EvaluationActivities>(WORK);
  const { tenant, evaluation_id } = input;
  try {
    const place = await prepare_round({ tenant, evaluation_id, round: desk.round, role });
    const { outcome, problem, inTime } = await runSession(
      {
        ...place,
        tenant,
        agent: role === 'generator' ? input.generator : input.evaluator,
        label: `round ${desk.round}/${input.rounds}: ${input.label}`,
        user: input.user,
      },
      {
        deadline: Date.now() + EVALUATE_LIMITS.secondsPerRole * 1000,
        isAsked: () => desk.stop !== undefined,
        askedBy: () => desk.stop ?? {},
      },
    );
    if (outcome?.status === 'completed') return undefined;
    if (!inTime) return `it did not answer within ${EVALUATE_LIMITS.secondsPerRole} s`;
    return outcome?.error?.message ?? problem ?? 'it was stopped';
  } catch (error) {
    // An agent that was deleted meanwhile is a result for the model.
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return error.cause?.message ?? error.message;
  }
}

function stopped({ by }: StopEvaluationInput): End {
  return { status: 'cancelled', by };
}

function show(input: EvaluateLoopInput, desk: Desk, doing: EvaluationRole | null): void {
  desk.doing = doing;
  const lines = desk.rounds.map(
    ({ round, verdict, feedback }) =>
      `- round ${round}: ${verdict ?? 'being judged'}${feedback ? ` (${markdownText(feedback)})` : ''}`,
  );
  const now = doing === null ? desk.status : `round ${desk.round}/${input.rounds}, ${doing}`;
  setCurrentDetails([`**${markdownText(input.label)}**: ${now}`, '', ...lines].join('\n'));
}
