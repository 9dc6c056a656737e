/** What the rounds of making and judging ask of the world (DE-4): texts come from rows, so history stays small. */
import {
  EVALUATE_WORDS,
  type EvaluationActivities,
  type EvaluationRole,
  type EvaluationRoundRef,
  type FinishEvaluationInput,
} from '#domain/evaluate-loop.ts';
import { Failure } from '#domain/errors.ts';
import { checkOfReply } from '#domain/gate.ts';
import { roundIds } from '#domain/ids.ts';
import { LOST_END } from '#domain/lost-work.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import { activityFailure, failingAs, recordFailure } from '../activity-failure.ts';
import { cutText } from '#domain/cut-text.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import type { DelegationStore } from '#store/delegation-store.ts';
import type { EvaluationEnd, EvaluationRow, EvaluationStore, RoundRow } from '#store/evaluation-store.ts';
import { writeWork } from '#store/gate-store.ts';
import type { Pool } from '#store/pool.ts';

export interface EvaluationRunDeps {
  readonly pool: Pool;
  readonly evaluations: EvaluationStore;
  readonly delegations: Pick<DelegationStore, 'workEnd'>;
  readonly scrubberOf: ScrubberOf;
}

/** Characters of a draft or of feedback that history shows. */
const PREVIEW = 300;

export function createEvaluationActivities(deps: EvaluationRunDeps): EvaluationActivities {
  return {
    prepare_round: failingAs(activityFailure, (input) => prepare(deps, input)),
    record_draft: failingAs(activityFailure, (input) => recordDraft(deps, input)),
    record_verdict: failingAs(activityFailure, (input) => recordVerdict(deps, input)),
    finish_evaluation: failingAs(recordFailure, (input) => finish(deps, input)),
  };
}

async function evaluationOf(
  deps: EvaluationRunDeps,
  { tenant, evaluation_id: id }: Pick<EvaluationRoundRef, 'tenant' | 'evaluation_id'>,
): Promise<EvaluationRow> {
  const row = await deps.evaluations.find(tenant, id);
  if (!row) throw new Failure('NotFound', `there is no evaluation ${id}`);
  return row;
}

async function prepare(
  deps: EvaluationRunDeps,
  input: EvaluationRoundRef & { readonly role: EvaluationRole },
): Promise<{ readonly session_key: string; readonly message_id: string }> {
  const { tenant, evaluation_id: id, round, role } = input;
  const row = await evaluationOf(deps, input);
  const rounds = await deps.evaluations.rounds(tenant, id);
  const ids = roundIds(id, round, role);
  const agent = role === 'generator' ? row.generator_key : row.evaluator_key;
  const there = await writeWork(deps.pool, tenant, {
    session: ids.session,
    agent,
    user: row.user_id,
    title: `${role}: ${row.label}`,
    context: row.context,
    bound: {
      delegation: {
        id,
        label: row.label,
        from: row.context.delegation?.from ?? row.generator_key,
        depth: row.depth,
        session: row.origin_session,
        turn: row.origin_turn,
        // DE-6: no gate fires within rounds of judging.
        ungated: true,
      },
    },
    message: ids.message,
    text: role === 'generator' ? taskText(row, rounds, round) : judgingText(row, rounds, round),
  });
  if (!there) throw new Failure('NotFound', `target agent "${agent}" not found`);
  return { session_key: ids.session, message_id: ids.message };
}

function taskText(row: EvaluationRow, rounds: readonly RoundRow[], round: number): string {
  const before = rounds.find((one) => one.round === round - 1);
  if (!before)
    return EVALUATE_WORDS.generate(row.task, row.context_text ?? undefined, row.criteria ?? undefined);
  return EVALUATE_WORDS.revise(row.task, round, row.max_rounds, before.feedback ?? '', before.draft);
}

function judgingText(row: EvaluationRow, rounds: readonly RoundRow[], round: number): string {
  const draft = rounds.find((one) => one.round === round)?.draft ?? '';
  return EVALUATE_WORDS.evaluate(row.task, draft, row.criteria ?? undefined, round, row.max_rounds);
}

/** The answer of the agent that worked in a round; `problem` when there is none. */
async function answerOf(
  deps: EvaluationRunDeps,
  { tenant, evaluation_id, round }: EvaluationRoundRef,
  role: EvaluationRole,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const end = await deps.delegations.workEnd(tenant, roundIds(evaluation_id, round, role).session);
  if (end?.status === 'completed') return { text: end.text ?? '' };
  return { problem: end?.error?.message ?? 'it ended without an answer' };
}

async function recordDraft(
  deps: EvaluationRunDeps,
  input: EvaluationRoundRef,
): Promise<{ readonly preview: string; readonly problem?: string }> {
  const answer = await answerOf(deps, input, 'generator');
  if ('problem' in answer) return { preview: '', problem: answer.problem.slice(0, PREVIEW) };
  await deps.evaluations.recordDraft(input.tenant, input.evaluation_id, input.round, answer.text);
  const scrubber = await deps.scrubberOf(input.tenant);
  return { preview: scrubber.preview(answer.text, PREVIEW) };
}

async function recordVerdict(deps: EvaluationRunDeps, input: EvaluationRoundRef) {
  const answer = await answerOf(deps, input, 'evaluator');
  if ('problem' in answer)
    return { verdict: 'rejected' as const, preview: '', problem: answer.problem.slice(0, PREVIEW) };
  const check = checkOfReply(answer.text);
  const verdict = check.kind === 'passed' ? ('approved' as const) : ('rejected' as const);
  const feedback = check.kind === 'failed' ? check.feedback : null;
  await deps.evaluations.recordVerdict(input.tenant, input.evaluation_id, input.round, verdict, feedback);
  const scrubber = await deps.scrubberOf(input.tenant);
  return { verdict, preview: scrubber.preview(feedback ?? '', PREVIEW) };
}

async function finish(
  deps: EvaluationRunDeps,
  input: FinishEvaluationInput,
): Promise<{ readonly status: FinishEvaluationInput['status'] }> {
  const { tenant, evaluation_id: id } = input;
  const row = await deps.evaluations.find(tenant, id);
  // Its tenant was deleted under it: nobody is left to be told.
  if (!row) return { status: input.status };
  const rounds = await deps.evaluations.rounds(tenant, id);
  const finished = await deps.evaluations.finish(tenant, id, endOf(input, row, rounds));
  return { status: (finished?.status ?? input.status) as FinishEvaluationInput['status'] };
}

function endOf(input: FinishEvaluationInput, row: EvaluationRow, rounds: readonly RoundRow[]): EvaluationEnd {
  if (input.lost) return LOST_END;
  const last = rounds.at(-1);
  const by = input.by ?? null;
  switch (input.status) {
    case 'approved': {
      const text = kept(row, EVALUATE_WORDS.approved(rounds.length, last?.draft ?? ''));
      return { status: 'approved', error: null, by, call: { ok: true, text } };
    }
    case 'not_approved': {
      const text = EVALUATE_WORDS.exhausted(row.max_rounds, last?.feedback ?? '', last?.draft ?? '');
      return { status: 'not_approved', error: null, by, call: { ok: true, text: kept(row, text) } };
    }
    case 'cancelled': {
      const text = `Cancelled: the evaluate loop was stopped after ${rounds.length} round(s).`;
      return { status: 'cancelled', error: null, by, call: { ok: false, code: 'Cancelled', text } };
    }
    default:
      return failedEnd(input, row, last, by);
  }
}

function failedEnd(
  { failed }: FinishEvaluationInput,
  row: EvaluationRow,
  last: RoundRow | undefined,
  by: string | null,
): EvaluationEnd {
  const { role = 'generator', round = 1, why = 'no reason is known' } = failed ?? {};
  const agent = role === 'generator' ? row.generator_key : row.evaluator_key;
  const message = EVALUATE_WORDS.failed(role, agent, round, why);
  const text = kept(row, `ExecutionFailed: ${message}${last ? `\n\nLast output:\n${last.draft}` : ''}`);
  return {
    status: 'failed',
    error: { code: 'ExecutionFailed', message },
    by,
    call: { ok: false, code: 'ExecutionFailed', text },
  };
}

function kept({ id }: EvaluationRow, text: string): string {
  return cutText(text, MODEL_RESULT_BYTES, `/v1/evaluations/${id}`).text;
}
