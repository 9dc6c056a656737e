/**
 * Plans what follows from an answer: its calls are looked up and judged, or an answer without calls must pass gates.
 * The same applies to an answer that was recorded before.
 */
import { type ShownGate, shownTurnGates, taskGates } from '#domain/gate/gate.ts';
import type { TeamContext } from '#domain/team/team.ts';
import type { CallModelResult } from '#domain/turn/turn-activities.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import {
  type CallPlan,
  type PlanDeps,
  planCalls,
  type PlannedDeps,
  planRecorded,
} from '../tool-call/plan-calls.ts';
import { hasStandIns } from '#domain/turn/stand-ins.ts';
import type { StandIns } from '../stand-ins.ts';
import { runsCommand } from '../tool-call/runs-at.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';
import type { GeneratedAnswer } from './generate-answer.ts';
import { NO_MODEL } from '#domain/model/model.ts';
import { databaseNow, type LoadedStep, type Step } from './step.ts';

export interface PlanAnswerDeps extends PlanDeps {
  /** Whether the turn with this lease must still answer with the task's result. */
  readonly awaitsAnswer: (tenant: string, team: TeamContext) => Promise<boolean>;
  readonly workspaceOf: WorkspaceOf;
  readonly standIns: StandIns;
}

/** Characters of an answer in history, for people in the web UI. */
export const ANSWER_PREVIEW = 500;

export interface AnswerPlan extends CallPlan {
  /** Gates that must judge the answer before it is released. */
  readonly gates?: readonly ShownGate[];
}

export async function planAnswer(
  deps: PlanAnswerDeps,
  step: Step,
  { answer, ref }: GeneratedAnswer,
): Promise<AnswerPlan> {
  const { tenant, session, agent, context } = step;
  // The catalog has the names in the answer: those of a model's dialect, or canonical ones without a model.
  const catalog = ref === NO_MODEL ? step.catalog : step.catalog.in(agent.tool_names ?? 'canonical');
  const runs = answer.calls.some(({ name }) => {
    const found = catalog.find(name);
    return found !== undefined && runsCommand(found.tool);
  });
  const place = runs ? await deps.placeOf(step.sandbox) : 'host';
  const { workspace } = deps.workspaceOf(tenant, agent, { ...context, session });
  const order = ref === NO_MODEL ? inOrder(answer.calls) : {};
  const basis = { ...step, ...order, catalog, requestedAt: databaseNow(step), place, workspace };
  const plan = await planCalls(deps, basis, answer.calls, step.attempt.signal);
  if (hasStandIns(context)) return deps.standIns.settle(step, plan);
  if (plan.calls.length > 0) return plan;
  const { team } = context;
  const mayBeTasks = team !== undefined && taskGates(agent, context).length > 0;
  const isTasks = !mayBeTasks || (await deps.awaitsAnswer(tenant, team));
  // A call made over the API is no answer of the agent.
  if (ref === NO_MODEL) return plan;
  return { ...plan, gates: shownTurnGates(agent, context, deps.scrubber.text, isTasks) };
}

/** Calls that a message lists run in its order; a model that wants an order waits for results. */
function inOrder({ length }: readonly unknown[]): { readonly isInOrder?: true } {
  return length > 1 ? { isInOrder: true } : {};
}

/** The step was recorded by an earlier attempt: its answer, as that attempt would have returned it. */
export function recordedAnswer(
  deps: PlannedDeps,
  step: LoadedStep,
  { text, model, calls, unheard, ended }: NonNullable<StepBasis['recorded']>,
): CallModelResult {
  const order = model === NO_MODEL ? inOrder(calls) : {};
  if (calls.length > 0) return { kind: 'calls', calls: planRecorded(deps, { ...step, ...order }, calls) };
  return {
    kind: 'answer',
    preview: deps.scrubber.preview(text, ANSWER_PREVIEW),
    gates: model === NO_MODEL ? undefined : shownTurnGates(step.agent, step.context, deps.scrubber.text),
    unheard: unheard ? (true as const) : undefined,
    ended: ended ? (true as const) : undefined,
  };
}
