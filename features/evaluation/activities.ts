/** Activities for rounds of making and judging (DE-4): texts are in rows, so history stays small. */
import { Failure } from '#domain/errors.ts';
import { EVALUATE_WORDS, type EvaluationActivities, type RoundPart, type RoundPartEnd } from './contract.ts';
import { checkOfReply } from '#domain/gate/gate.ts';
import { roundIds } from '#domain/ids.ts';
import { type AssignmentRow, findAssignment, findWorkEnd } from '#store/assignments/assignment-store.ts';
import { writeWork } from '#store/teams/gate-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { activityFailure, failingAs } from '#activities/activity-failure.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import { findRounds, recordRound, type RoundRow } from './store.ts';

type EvaluationRunDeps = Pick<ActivityDeps, 'pool' | 'scrubberOf'>;

/** Characters of a draft or feedback in history. */
const PREVIEW = 300;

export function createEvaluationActivities(deps: EvaluationRunDeps): EvaluationActivities {
  return {
    prepare_round: failingAs(activityFailure, (part) => prepare(deps.pool, part)),
    record_round: failingAs(activityFailure, (part) => record(deps, part)),
  };
}

async function prepare(pool: Pool, part: RoundPart): ReturnType<EvaluationActivities['prepare_round']> {
  const { tenant, id, round, role } = part;
  const row = await findAssignment(forTenant(pool, tenant), id);
  if (!row?.details) throw new Failure('NotFound', `there is no evaluation ${id}`);
  if (row.stopped_by !== null) return undefined;
  const ids = roundIds(id, round, role);
  const agent = role === 'generator' ? row.target_key : row.details.evaluator;
  const there = await writeWork(forTenant(pool, tenant), {
    session: ids.session,
    agent,
    user: row.user_id,
    title: `${role}: ${row.label}`,
    context: row.context,
    bound: {
      delegation: {
        id,
        label: row.label,
        from: row.context.delegation?.from ?? row.target_key,
        depth: row.depth,
        session: row.origin_session,
        turn: row.origin_turn,
        // DE-6: no gate runs within rounds of judging.
        ungated: true,
      },
    },
    message: ids.message,
    text: textOf(part, row.task, row.details, await findRounds(forTenant(pool, tenant), id)),
  });
  if (!there) throw new Failure('NotFound', `target agent "${agent}" not found`);
  return { session_key: ids.session, message_id: ids.message };
}

function textOf(
  { round, role }: RoundPart,
  task: string,
  { criteria, context, max_rounds }: NonNullable<AssignmentRow['details']>,
  rounds: readonly RoundRow[],
): string {
  const draftOf = (number: number) => rounds.find((one) => one.round === number);
  if (role === 'evaluator')
    return EVALUATE_WORDS.evaluate(task, draftOf(round)?.draft ?? '', criteria, round, max_rounds);
  const before = draftOf(round - 1);
  if (!before) return EVALUATE_WORDS.generate(task, context, criteria);
  return EVALUATE_WORDS.revise(task, round, max_rounds, before.feedback ?? '', before.draft);
}

async function record({ pool, scrubberOf }: EvaluationRunDeps, part: RoundPart): Promise<RoundPartEnd> {
  const { tenant, id, round, role } = part;
  const end = await findWorkEnd(forTenant(pool, tenant), roundIds(id, round, role).session);
  if (end?.status !== 'completed') {
    const problem = end?.error?.message ?? 'it ended without an answer';
    return { preview: '', problem: problem.slice(0, PREVIEW) };
  }
  const text = end.text ?? '';
  const scrubber = await scrubberOf(tenant);
  if (role === 'generator') {
    await recordRound(forTenant(pool, tenant), id, { round, draft: text, verdict: null, feedback: null });
    return { preview: scrubber.preview(text, PREVIEW) };
  }
  const check = checkOfReply(text);
  const verdict = check.kind === 'passed' ? ('approved' as const) : ('rejected' as const);
  const feedback = check.kind === 'failed' ? check.feedback : null;
  await recordRound(forTenant(pool, tenant), id, { round, draft: '', verdict, feedback });
  return { preview: scrubber.preview(feedback ?? '', PREVIEW), verdict };
}
