/**
 * Rounds of making and judging (DE-4). In each round, the generator and the evaluator each work in a session of their
 * own, as child workflows, so that the web UI shows who did what. The requesting turn waits for it; drafts and verdicts
 * are rows.
 */
import {
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
  ASSIGNMENT,
  type AssignmentActivities,
  type FinishAssignmentInput,
  type StopAssignmentInput,
} from '#domain/assignment/assignment.ts';
import {
  EVALUATE_LIMITS,
  type EvaluateLoopInput,
  type EvaluateLoopOutcome,
  type EvaluationActivities,
  type EvaluationEndStatus,
  type EvaluationRole,
  type EvaluationRoundPreview,
  type EvaluationState,
  type EvaluationStatus,
  type RoundPartEnd,
} from './contract.ts';
import { markdownText } from '#domain/text/markdown.ts';
import { RECORD, WORK } from '#workflows/activity-options.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { readAssignmentStop } from '#domain/turn/stop-of-work.ts';
import { askAgent } from '#workflows/steps/ask-agent.ts';
import { claimLinkedTask, closeLinkedTask } from '#workflows/steps/linked-task.ts';
import { refuseWrongStart } from '#workflows/steps/refuse-start.ts';

const stopSignal = defineSignal<[StopAssignmentInput?]>(ASSIGNMENT.signals.stop);
const stateQuery = defineQuery<EvaluationState>(ASSIGNMENT.queries.state);

type EvaluationEnd = Omit<FinishAssignmentInput, 'tenant' | 'id'>;

interface Progress {
  status: EvaluationStatus;
  stop: StopAssignmentInput | undefined;
  round: number;
  doing: EvaluationRole | null;
  readonly rounds: EvaluationRoundPreview[];
}

export async function evaluateLoop(input: EvaluateLoopInput): Promise<EvaluateLoopOutcome> {
  refuseWrongStart(inputProblem('evaluateLoop', input, ['tenant', 'id'], ['rounds']));
  const progress: Progress = { status: 'running', stop: undefined, round: 0, doing: null, rounds: [] };
  const { tenant, id } = input;
  setHandler(stopSignal, (payload) => {
    progress.stop ??= readAssignmentStop(payload);
  });
  setHandler(stateQuery, () => ({
    evaluation_id: id,
    status: progress.status,
    round: progress.round,
    max_rounds: input.rounds,
    doing: progress.doing,
    rounds: progress.rounds,
  }));
  const end: EvaluationEnd = input.lost
    ? { status: 'failed', lost: true }
    : await rounds(input, progress).catch(ifCancelled);
  const { finish_assignment } = proxyLocalActivities<AssignmentActivities>(RECORD);
  const { status, ok } = await CancellationScope.nonCancellable(async () => {
    const finished = await finish_assignment({ tenant, id, ...end });
    if (input.has_task) await closeLinkedTask(input);
    return finished;
  });
  progress.status = status as EvaluationEndStatus;
  show(input, progress, null);
  return {
    evaluation_id: id,
    status: progress.status,
    rounds_used: progress.rounds.length,
    passed: status === 'approved',
    rounds: progress.rounds,
    ok,
    recorded: true,
  };
}

function ifCancelled(error: unknown): EvaluationEnd {
  if (!isCancellation(error)) throw error;
  return { status: 'cancelled' };
}

function stopped({ by, reason }: StopAssignmentInput): EvaluationEnd {
  return { status: 'cancelled', by, reason };
}

async function rounds(input: EvaluateLoopInput, progress: Progress): Promise<EvaluationEnd> {
  const unclaimed = input.has_task && (await claimLinkedTask(input));
  if (unclaimed) return { status: 'failed', failed: { role: 'generator', round: 1, why: unclaimed } };
  for (let round = 1; round <= input.rounds; round += 1) {
    progress.round = round;
    const failed = (role: EvaluationRole, why: string): EvaluationEnd => ({
      status: 'failed',
      failed: { role, round, why },
    });

    const making = await work(input, progress, 'generator');
    if (progress.stop) return stopped(progress.stop);
    if (making.problem !== undefined) return failed('generator', making.problem);
    const draft = making.preview;
    progress.rounds.push({ round, draft });

    const judging = await work(input, progress, 'evaluator');
    if (progress.stop) return stopped(progress.stop);
    if (judging.problem !== undefined) return failed('evaluator', judging.problem);
    const { verdict, preview } = judging;
    progress.rounds[round - 1] = { round, draft, verdict, feedback: preview === '' ? undefined : preview };
    if (verdict === 'approved') return { status: 'approved' };
  }
  return { status: 'not_approved' };
}

async function work(
  input: EvaluateLoopInput,
  progress: Progress,
  role: EvaluationRole,
): Promise<RoundPartEnd> {
  show(input, progress, role);
  const { prepare_round, record_round } = proxyActivities<EvaluationActivities>(WORK);
  const { tenant, id, user } = input;
  const part = { tenant, id, round: progress.round, role };
  const problem = await askAgent({
    tenant,
    user,
    agent: role === 'generator' ? input.generator : input.evaluator,
    label: `round ${progress.round}/${input.rounds}: ${input.label}`,
    async prepare() {
      const place = await prepare_round(part);
      // Its row was marked as stopped before this run could receive the signal.
      if (!place) progress.stop ??= {};
      return place;
    },
    seconds: EVALUATE_LIMITS.secondsPerRole,
    limits: {
      deadline: Number.POSITIVE_INFINITY,
      isCancelRequested: () => progress.stop !== undefined,
      cancelRequest: () => progress.stop ?? {},
    },
  });
  return problem === undefined && !progress.stop ? record_round(part) : { preview: '', problem };
}

function show(input: EvaluateLoopInput, progress: Progress, doing: EvaluationRole | null): void {
  progress.doing = doing;
  const lines = progress.rounds.map(
    ({ round, verdict, feedback }) =>
      `- round ${round}: ${verdict ?? 'being judged'}${feedback ? ` (${markdownText(feedback)})` : ''}`,
  );
  const now = doing === null ? progress.status : `round ${progress.round}/${input.rounds}, ${doing}`;
  setCurrentDetails([`**${markdownText(input.label)}**: ${now}`, '', ...lines].join('\n'));
}
