/**
 * Quality gates over a piece of work (DE-6): one after the other, each with its revisions, before anybody reads the
 * work.
 */
import { proxyActivities } from '@temporalio/workflow';
import type {
  GateCursor,
  GateRun,
  GateVerdict,
  JudgedWork,
  ShownCheck,
  ShownGate,
} from '#domain/gate/gate.ts';
import type { CheckGateInput, GateActivities } from '#domain/gate/gate-activities.ts';
import { markdownText } from '#domain/text/markdown.ts';
import { gateOptions, WORK } from '../../activity-options.ts';
import { askAgent } from '../ask-agent.ts';
import { askForMore } from './ask-for-more.ts';
import type { CallSurroundings } from '../run-calls.ts';
import type { SessionLimits } from '../run-session.ts';

export interface WorkAtGate {
  readonly tenant: string;
  readonly user?: string;
  readonly label: string;
  readonly limits: SessionLimits;
  /** Called while a gate waits for people to allow it more budget. */
  readonly onAsk?: CallSurroundings['onChange'];
}

export interface GatedWork extends WorkAtGate, JudgedWork {
  readonly gates: readonly ShownGate[];
  /** Where an earlier run of the workflow stopped. */
  readonly from?: GateCursor;
  /** For a turn: the step whose answer is judged now. */
  readonly step?: () => number;
  /** Lets the worker continue with this message; returns whether it gave another answer. `next` judges that one. */
  readonly revise: (messageId: string, next: GateCursor) => Promise<boolean>;
  readonly onCheck: (check: ShownCheck) => void;
}

export interface GateOutcome {
  /** The blocking gate that did not let it pass. */
  readonly blocked?: ShownCheck & { readonly index: number };
  /** Greater than the number of every attempt so far. */
  readonly next: number;
}

/** Ends early, as if all passed, when somebody or the time limit ends the work: the caller checks that itself. */
export async function runGates(work: GatedWork): Promise<GateOutcome> {
  const from = work.from ?? { gate: 0, attempt: 0, first: 0 };
  let next = from.attempt;
  for (const gate of work.gates) {
    if (gate.index < from.gate) continue;
    const end = await runGate(work, gate, gate.index === from.gate ? from : { ...from, attempt: from.first });
    next = Math.max(next, end.attempt + 1);
    if (end.step === 'block') return { blocked: { ...end, index: gate.index }, next };
    if (isOver(work)) break;
  }
  return { next };
}

function isOver({ limits }: GatedWork): boolean {
  return limits.isCancelRequested() || Date.now() >= limits.deadline;
}

/** Its last check; `warn` or `block` when that requests a revision which did not happen. */
async function runGate(
  work: GatedWork,
  gate: ShownGate,
  { attempt, first }: GateCursor,
): Promise<ShownCheck> {
  for (; ; attempt += 1) {
    const run: GateRun = {
      tenant: work.tenant,
      kind: work.kind,
      owner_id: work.owner_id,
      gate: gate.index,
      attempt,
      retries: attempt - first,
      step: work.step?.(),
    };
    const check = { gate: gate.name, attempt, ...(await judge(work, gate, run)) };
    work.onCheck(check);
    if (check.step !== 'retry') return check;
    const next = { gate: gate.index, attempt: attempt + 1, first };
    if (isOver(work) || !(await reviseWork(work, run, next)))
      // The result has not passed yet, and comes before it is stored.
      return { ...check, step: gate.block_on_failure ? 'block' : 'warn' };
  }
}

/** One run of one gate, over finished work. */
export function judge(work: WorkAtGate, gate: ShownGate, run: GateRun): Promise<GateVerdict> {
  return gate.type === 'agent' ? askJudge(work, gate, run) : runCommand(work, gate, run);
}

/** Repeats as often as people allow it more of a budget that is used up (DU-7). */
async function runCommand(work: WorkAtGate, gate: ShownGate, run: GateRun): Promise<GateVerdict> {
  const { check_gate } = proxyActivities<GateActivities>(gateOptions(gate));
  let input: CheckGateInput = run;
  for (let requested = 0; ; requested += 1) {
    const found = await check_gate({ ...input, increases: requested });
    if (found.kind !== 'budget') return found;
    const refused = await askForMore(found, work);
    if (refused !== undefined) input = { ...run, refused };
  }
}

async function askJudge(work: WorkAtGate, gate: ShownGate, run: GateRun): Promise<GateVerdict> {
  const { prepare_gate, judge_gate } = proxyActivities<GateActivities>(WORK);
  const problem = await askAgent({
    tenant: work.tenant,
    agent: gate.agent ?? '',
    label: `gate: ${work.label}`,
    user: work.user,
    prepare: () => prepare_gate(run),
    seconds: gate.timeout_seconds,
    limits: work.limits,
  });
  return judge_gate({ ...run, problem: problem?.slice(0, 500) });
}

/** One line of the details in the web UI. */
export function checkLine({ gate, attempt, kind, preview }: ShownCheck): string {
  const found = preview ? ` (${markdownText(preview)})` : '';
  return `- gate ${markdownText(gate)}, attempt ${attempt + 1}: ${kind}${found}`;
}

async function reviseWork(work: GatedWork, run: GateRun, next: GateCursor): Promise<boolean> {
  const { revise_work } = proxyActivities<GateActivities>(WORK);
  const { message_id } = await revise_work(run);
  return work.revise(message_id, next);
}
