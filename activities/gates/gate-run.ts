/**
 * Activities for the gates of a piece of work (DE-6): they run the command or the judge, and record the result as a
 * row.
 */
import { Context } from '@temporalio/activity';
import {
  checkOfReply,
  type GateCheck,
  GATE_LIMITS,
  GATE_WORDS,
  gateName,
  type GateRun,
  type GateVerdict,
  gateWarnings,
  nextGateStep,
  type QualityGate,
} from '#domain/gate/gate.ts';
import type { CheckGateInput, GateActivities, GateAsk } from '#domain/gate/gate-activities.ts';
import type { BudgetExceeded } from '#domain/budget/budget.ts';
import { exceededWords } from '#domain/budget/ask-for-more.ts';
import { gateRunIds } from '#domain/ids.ts';
import { type SandboxSettings, sandboxOf } from '#domain/sandbox.ts';
import { Failure } from '#domain/errors.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import { runGateCommand } from './gate-command.ts';
import type { Shell } from '@tempoclaw/sandbox';
import type { ActivityDeps } from '../activity-deps.ts';
import type { BudgetedWork } from '#store/budgets/budget-ledger.ts';
import { findWorkEnd } from '#store/assignments/assignment-store.ts';
import {
  findJudgedWork,
  gateRows,
  recordGateCheck,
  releaseAnswer,
  writeWork,
} from '#store/teams/gate-store.ts';
import type { GatedWork } from '#store/teams/gated-work.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Files } from '../workspace/contract.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';

export interface GateRunDeps extends ActivityDeps {
  readonly shell: Shell;
  readonly files: Pick<Files, 'hold'>;
  readonly budgets: Pick<BudgetGuard, 'around' | 'askFor' | 'takeBack'>;
  /** Sandbox of the settings, for agents that set none. */
  readonly sandbox: SandboxSettings;
  readonly workspaceOf: WorkspaceOf;
}

interface LoadedGate {
  readonly work: GatedWork;
  readonly gate: QualityGate;
}

export function createGateActivities(deps: GateRunDeps): GateActivities {
  return {
    check_gate: failingAs(activityFailure, async (run) => {
      const found = await find(deps, run);
      const known = await verdictOf(deps, run);
      if (known) return known;
      const check = await runCommand(deps, run, found);
      return check.kind === 'budget' ? check : record(deps, run, found, check);
    }),
    prepare_gate: failingAs(activityFailure, (run) => prepare(deps, run)),
    judge_gate: failingAs(activityFailure, async (run) => {
      const found = await find(deps, run);
      const known = await verdictOf(deps, run);
      return known ?? record(deps, run, found, await readReply(deps, run));
    }),
    revise_work: failingAs(activityFailure, (run) => revise(deps, run)),
  };
}

/** Releases a turn's answer that was withheld, with the warnings of its gates. Safe to repeat. */
export type ReleaseAnswer = (answer: {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  readonly step: number;
}) => Promise<void>;

export function createReleaseAnswer(pool: Pool): ReleaseAnswer {
  return async (answer) => {
    const db = forTenant(pool, answer.tenant);
    const checks = await gateRows(db, answer.turn);
    await releaseAnswer(db, answer, gateWarnings(checks));
  };
}

async function find(deps: GateRunDeps, run: GateRun): Promise<LoadedGate> {
  const work = await findJudgedWork(forTenant(deps.pool, run.tenant), run);
  const required = work?.gates[run.gate];
  if (!work || !required)
    throw new Failure('NotFound', `there is no ${run.kind} ${run.owner_id} with a gate ${run.gate}`);
  return { work, gate: required };
}

async function verdictOf(
  deps: GateRunDeps,
  { tenant, owner_id, gate, attempt }: GateRun,
): Promise<GateVerdict | undefined> {
  const rows = await gateRows(forTenant(deps.pool, tenant), owner_id);
  const row = rows.find((one) => one.gate === gate && one.attempt === attempt);
  return row && { kind: row.kind, step: row.step, preview: row.feedback.slice(0, PREVIEW).toWellFormed() };
}

/** Characters of feedback in history. */
const PREVIEW = 300;

async function runCommand(
  deps: GateRunDeps,
  run: CheckGateInput,
  { work, gate }: LoadedGate,
): Promise<GateCheck | GateAsk> {
  const { agent, session, turn } = work;
  const id = `${run.owner_id}.g${run.gate}.${run.attempt}`;
  const { info, cancellationSignal } = Context.current();
  const counted = { tenant: run.tenant, session, turn, owner: run.owner_id, holder: id };
  const command = {
    command: gate.command ?? '',
    input: work.output,
    seconds: gate.timeout_seconds ?? GATE_LIMITS.seconds,
    sandbox: sandboxOf(deps.sandbox, agent.sandbox),
    owner: {
      tenant: run.tenant,
      agent: agent.key,
      sessionKey: session,
      ...deps.workspaceOf(run.tenant, agent, {
        ...work.context,
        ...(work.team === undefined ? {} : { team: { key: work.team } }),
        session,
      }),
    },
    id,
    signal: cancellationSignal,
  };
  try {
    const done = await deps.budgets.around(counted, info.attempt, () => runGateCommand(deps, command));
    if ('result' in done) {
      // An earlier attempt may have asked for more, and died before its workflow could wait for the answer.
      if (info.attempt > 1) await deps.budgets.takeBack(counted, run.increases ?? 0);
      return done.result;
    }
    return await overBudget(deps, run, work, counted, done.exceeded);
  } catch (error) {
    if (Context.current().cancellationSignal.aborted) throw error;
    return {
      kind: 'broken',
      problem: error instanceof Error ? error.message : 'the command could not be run',
    };
  }
}

/** More is requested when the workflow can wait for the answer, and was not refused before. */
async function overBudget(
  { budgets }: GateRunDeps,
  { increases, refused }: CheckGateInput,
  { agent, context }: GatedWork,
  counted: BudgetedWork,
  exceeded: BudgetExceeded,
): Promise<GateCheck | GateAsk> {
  const { user } = context;
  const asker = { agent: agent.key, user };
  const asks =
    increases === undefined || refused !== undefined
      ? undefined
      : await budgets.askFor(counted, exceeded, asker, increases);
  if (asks) return { kind: 'budget', ...asks };
  const problem = `BudgetExceeded: ${refused ?? exceededWords(exceeded)}. The command has not run.`;
  return { kind: 'broken', problem: problem.slice(0, GATE_LIMITS.feedback) };
}

async function readReply(
  deps: GateRunDeps,
  run: GateRun & { readonly problem?: string },
): Promise<GateCheck> {
  const { session } = gateRunIds(run.owner_id, run.gate, run.attempt);
  // It may have answered in an earlier run of the workflow, which was ended from outside.
  const end = await findWorkEnd(forTenant(deps.pool, run.tenant), session);
  if (end?.status === 'completed' && end.text !== null) return checkOfReply(end.text);
  const why = run.problem ?? end?.error?.message ?? 'it ended without an answer';
  return { kind: 'broken', problem: `the evaluating agent failed: ${why}` };
}

async function record(
  deps: GateRunDeps,
  run: GateRun,
  { work, gate }: LoadedGate,
  check: GateCheck,
): Promise<GateVerdict> {
  const scrubber = await deps.scrubberOf(run.tenant);
  const text = check.kind === 'failed' ? check.feedback : check.kind === 'broken' ? check.problem : '';
  const row = await recordGateCheck(forTenant(deps.pool, run.tenant), {
    owner: run.owner_id,
    session: work.session,
    turn: work.turn,
    gate: run.gate,
    attempt: run.attempt,
    name: scrubber.text(gateName(gate)),
    kind: check.kind,
    step: nextGateStep(gate, check, run.retries),
    feedback: scrubber.text(text),
  });
  deps.onWrite(run.tenant, work.session);
  if (!row) throw new Failure('Internal', `the check of ${run.owner_id} was not recorded`);
  return { kind: row.kind, step: row.step, preview: row.feedback.slice(0, PREVIEW).toWellFormed() };
}

async function prepare(
  deps: GateRunDeps,
  run: GateRun,
): Promise<{ readonly session_key: string; readonly message_id: string }> {
  const { work, gate } = await find(deps, run);
  const ids = gateRunIds(run.owner_id, run.gate, run.attempt);
  const label = `gate: ${work.label}`;
  const there = await writeWork(forTenant(deps.pool, run.tenant), {
    session: ids.session,
    agent: gate.agent ?? '',
    user: work.context.user ?? null,
    title: label,
    context: work.context,
    bound: {
      delegation: {
        id: run.owner_id,
        label,
        from: work.agent.key,
        depth: work.depth + 1,
        session: work.session,
        turn: work.turn,
        ungated: true,
      },
    },
    message: ids.message,
    text: GATE_WORDS.evaluate(work.task, work.output, gate.criteria),
  });
  if (!there) throw new Failure('NotFound', `the evaluating agent "${gate.agent}" does not exist`);
  return { session_key: ids.session, message_id: ids.message };
}

async function revise(deps: GateRunDeps, run: GateRun): Promise<{ readonly message_id: string }> {
  const db = forTenant(deps.pool, run.tenant);
  const { work, gate } = await find(deps, run);
  const rows = await gateRows(db, run.owner_id);
  const row = rows.find((one) => one.gate === run.gate && one.attempt === run.attempt);
  const ids = gateRunIds(run.owner_id, run.gate, run.attempt);
  await writeWork(db, {
    session: work.session,
    agent: work.agent.key,
    user: work.context.user ?? null,
    title: work.label,
    context: work.context,
    bound: {},
    message: ids.revision,
    text: GATE_WORDS.retry(row?.feedback ?? '', run.retries + 1, gate.max_retries ?? 0),
  });
  return { message_id: ids.revision };
}
