/** Quality gates over a piece of work (DE-6): one after the other, each with its revisions, before anybody reads the work. */
import { ActivityFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ShownCheck, ShownGate } from '#domain/delegation.ts';
import type { GateActivities, GateRun, GateVerdict } from '#domain/gate.ts';
import { gateOptions, WORK } from '../activity-options.ts';
import { runSession, type SessionEnd, type SessionLimits } from './run-session.ts';

export interface GatedWork {
  readonly tenant: string;
  readonly owner_id: string;
  readonly user?: string;
  readonly label: string;
  readonly gates: readonly ShownGate[];
  readonly limits: SessionLimits;
  /** Has the worker go on with this message; whether it gave another answer. */
  readonly revise: (messageId: string) => Promise<boolean>;
  readonly onCheck: (check: ShownCheck) => void;
}

export interface GateOutcome {
  /** Some gate did not let it pass and does not block. */
  readonly warned: boolean;
  readonly blocked?: { readonly gate: number; readonly attempt: number };
}

/** Ends early, as if all were well, when somebody or the clock ends the work: the caller looks at that itself. */
export async function runGates(work: GatedWork): Promise<GateOutcome> {
  let warned = false;
  for (const gate of work.gates) {
    const end = await runGate(work, gate);
    if (end.step === 'block') return { warned, blocked: { gate: gate.index, attempt: end.attempt } };
    if (end.step === 'warn') warned = true;
    if (isOver(work)) break;
  }
  return { warned };
}

function isOver({ limits }: GatedWork): boolean {
  return limits.isAsked() || Date.now() >= limits.deadline;
}

async function runGate(
  work: GatedWork,
  gate: ShownGate,
): Promise<{ readonly step: 'pass' | 'warn' | 'block'; readonly attempt: number }> {
  for (let attempt = 0; ; attempt += 1) {
    const run = { tenant: work.tenant, owner_id: work.owner_id, gate: gate.index, attempt };
    const verdict = await check(work, gate, run);
    work.onCheck({ gate: gate.name, attempt, ...verdict });
    if (verdict.step !== 'retry') return { step: verdict.step, attempt };
    if (isOver(work) || !(await reviseWork(work, run)))
      // The result before it is kept, and that has not passed.
      return { step: gate.block_on_failure ? 'block' : 'warn', attempt };
  }
}

function check(work: GatedWork, gate: ShownGate, run: GateRun): Promise<GateVerdict> {
  if (gate.type === 'agent') return askAgent(work, gate, run);
  const { check_gate } = proxyActivities<GateActivities>(gateOptions(gate));
  return check_gate(run);
}

async function askAgent(work: GatedWork, gate: ShownGate, run: GateRun): Promise<GateVerdict> {
  const { prepare_gate, judge_gate } = proxyActivities<GateActivities>(WORK);
  let problem: string | undefined;
  try {
    const place = await prepare_gate(run);
    const end = await runSession(
      {
        ...place,
        tenant: work.tenant,
        agent: gate.agent ?? '',
        label: `gate: ${work.label}`,
        ...(work.user === undefined ? {} : { user: work.user }),
      },
      { ...work.limits, deadline: Math.min(work.limits.deadline, Date.now() + gate.timeout_seconds * 1000) },
    );
    problem = problemOf(end, gate.timeout_seconds);
  } catch (error) {
    // An evaluator that is not there is a gate that is broken; what follows from that is the gate's to say.
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    problem = error.cause?.message ?? error.message;
  }
  return judge_gate({ ...run, ...(problem === undefined ? {} : { problem: problem.slice(0, 500) }) });
}

function problemOf({ outcome, problem, inTime }: SessionEnd, seconds: number): string | undefined {
  if (!inTime) return `it did not answer within ${seconds} s`;
  if (outcome?.status === 'completed') return undefined;
  return outcome?.error?.message ?? problem ?? 'it was stopped';
}

async function reviseWork(work: GatedWork, run: GateRun): Promise<boolean> {
  const { revise_work } = proxyActivities<GateActivities>(WORK);
  const { message_id } = await revise_work(run);
  return work.revise(message_id);
}
