/**
 * Quality gates (DE-6): checks that an agent's work must pass before anybody reads it. Pure rules. The workflow of the
 * judged work runs a gate, and never for work that is itself a judgement.
 */
import type { gateSchema } from '../schema/gate.ts';
import type { Kept } from '../schema/scalars.ts';
import { toBeJudged } from '../text/judged-text.ts';

export const GATE_EVENTS = ['delegation.completed', 'task.completed', 'turn.completed'] as const;
export type GateEvent = (typeof GATE_EVENTS)[number];

export const GATE_TYPES = ['command', 'agent'] as const;
export type GateType = (typeof GATE_TYPES)[number];

export const GATE_LIMITS = {
  gates: 20,
  retries: 10,
  seconds: 60,
  /** Time limit of an evaluating agent, when the gate does not set one. */
  agentSeconds: 300,
  maxSeconds: 600,
  command: 10_000,
  /** Characters of feedback that the worker reads. */
  feedback: 8_000,
  /** Characters of the work that an evaluating agent reads. */
  shown: 100_000,
} as const;

/** A gate of an agent: the agent's work must pass it. */
export type QualityGate = Kept<typeof gateSchema>;

/** The result of one run of a gate. */
export type GateCheck =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly feedback: string }
  /** The gate itself failed, so there is no verdict. */
  | { readonly kind: 'broken'; readonly problem: string };

export type GateStep = 'pass' | 'retry' | 'warn' | 'block';

/**
 * What follows from a check. `retries`: revisions that this gate has already requested. A broken gate requests no
 * revision, because it says nothing about the work; it blocks when it was configured to block.
 */
export function nextGateStep(
  gate: Pick<QualityGate, 'block_on_failure' | 'max_retries'>,
  check: Pick<GateCheck, 'kind'>,
  retries: number,
): GateStep {
  if (check.kind === 'passed') return 'pass';
  if (check.kind === 'failed' && retries < (gate.max_retries ?? 0)) return 'retry';
  return gate.block_on_failure ? 'block' : 'warn';
}

/** The work that is judged; its kind says where its id is found. */
export interface JudgedWork {
  readonly kind: 'delegation' | 'turn' | 'task';
  readonly owner_id: string;
}

/** One run of one gate: attempt 0 judges the first version of the work. */
export interface GateRun extends JudgedWork {
  readonly tenant: string;
  /** Index of the gate among those of the event. */
  readonly gate: number;
  readonly attempt: number;
  /** Revisions that this gate has already requested. */
  readonly retries: number;
  /** For a turn: the step whose answer is judged. */
  readonly step?: number;
  readonly task?: { readonly team: string; readonly number: number };
}

/** Where judging continues: the gates before `gate` are done, and `attempt` is next. */
export interface GateCursor {
  readonly gate: number;
  readonly attempt: number;
  /** The first attempt of each gate; above 0 when work that was judged has changed. */
  readonly first: number;
}

/** A gate as the workflow uses it. */
export interface ShownGate {
  /** Index among the gates of its event. */
  readonly index: number;
  /** Scrubbed. */
  readonly name: string;
  readonly type: GateType;
  readonly agent?: string;
  readonly max_retries: number;
  readonly block_on_failure: boolean;
  readonly timeout_seconds: number;
}

/** One run of a gate, as people see it. */
export interface ShownCheck extends GateVerdict {
  readonly gate: string;
  readonly attempt: number;
}

/** What the workflow uses of a verdict; the feedback itself is a row. */
export interface GateVerdict {
  readonly kind: GateCheck['kind'];
  readonly step: GateStep;
  /** Scrubbed text for people. */
  readonly preview: string;
}

/** What history shows of gates. `hide` scrubs their names, which contain words of commands. */
export function shownGates(
  gates: readonly QualityGate[],
  hide: (text: string) => string,
): readonly ShownGate[] {
  return gates.map((gate, index) => ({
    index,
    name: hide(gateName(gate)),
    type: gate.type,
    agent: gate.agent,
    max_retries: gate.max_retries ?? 0,
    block_on_failure: gate.block_on_failure ?? false,
    timeout_seconds:
      gate.timeout_seconds ?? (gate.type === 'agent' ? GATE_LIMITS.agentSeconds : GATE_LIMITS.seconds),
  }));
}

/** The parts of a context that determine the gates for the answer of a turn. */
interface JudgedContext {
  readonly delegation?: { readonly ungated?: true };
  readonly subagent?: object;
  readonly team?: { readonly ungated?: true };
}

/** Work within a judgement is not judged, however deep it is nested. */
export function isUngated({ delegation, team }: Pick<JudgedContext, 'delegation' | 'team'>): boolean {
  return (delegation?.ungated ?? team?.ungated) === true;
}

type Gated = { readonly quality_gates?: readonly QualityGate[] | undefined };

/**
 * Gates for an agent's answer to whom it speaks with. For a team member's task they include the task's gates, because
 * the answer is the task's result. Within a judgement there are none, and a subagent has none, because its parent's
 * answer is judged.
 */
export function turnGates(agent: Gated, context: JudgedContext): readonly QualityGate[] {
  if (agent.quality_gates === undefined || isUngated(context) || context.subagent) return [];
  return [...gatesFor(agent.quality_gates, 'turn.completed'), ...taskGates(agent, context)];
}

/** Gates that the result of the turn's task must pass. */
export function taskGates(agent: Gated, context: JudgedContext): readonly QualityGate[] {
  if (!context.team || isUngated(context)) return [];
  return gatesFor(agent.quality_gates, 'task.completed');
}

/**
 * Gates of a turn's answer as history shows them; undefined when there are none. `isTasks` is false for what a member says after it has
 * handed its task in, which is not the task's result.
 */
export function shownTurnGates(
  agent: Gated,
  context: JudgedContext,
  hide: (text: string) => string,
  isTasks = true,
): readonly ShownGate[] | undefined {
  const all = turnGates(agent, context);
  const gates = isTasks ? all : all.slice(0, all.length - taskGates(agent, context).length);
  return gates.length > 0 ? shownGates(gates, hide) : undefined;
}

/** The last feedback of each gate that did not let the work pass; `checks` by gate and attempt. */
export function gateWarnings(
  checks: readonly {
    readonly gate: number;
    readonly name: string;
    readonly kind: GateCheck['kind'];
    readonly step: GateStep;
    readonly feedback: string;
  }[],
): readonly string[] {
  const last = new Map(checks.map((check) => [check.gate, check]));
  return [...last.values()]
    .filter(({ step }) => step !== 'pass')
    .map(({ name, kind, feedback }) =>
      GATE_WORDS.warning(name, kind === 'broken' ? `skipped, since ${feedback}` : feedback),
    );
}

/** The work with the warnings of its gates, as others read it. */
export function withWarnings(text: string, warnings: readonly string[]): string {
  return [text, ...warnings].filter((part) => part !== '').join('\n\n');
}

/** The gates of the event, in order, without those that have nothing to run. */
export function gatesFor(
  gates: readonly QualityGate[] | undefined,
  event: GateEvent,
): readonly QualityGate[] {
  return (gates ?? []).filter((gate) => gate.event === event && gateProblem(gate) === undefined);
}

/** Undefined when the gate has what its type needs; otherwise the reason. */
export function gateProblem(gate: QualityGate): string | undefined {
  if (gate.type === 'command') {
    if (!gate.command?.trim()) return 'a gate of type command needs a command';
    return gate.agent === undefined ? undefined : 'a gate of type command has no agent';
  }
  if (!gate.agent) return 'a gate of type agent needs an agent';
  return gate.command === undefined ? undefined : 'a gate of type agent has no command';
}

/** Exit code 0 passes. Otherwise the feedback is stderr, or stdout when stderr is empty. */
export function checkOfCommand(run: {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly seconds: number;
}): GateCheck {
  if (run.timedOut) return { kind: 'broken', problem: `the command did not end within ${run.seconds} s` };
  if (run.exitCode === null) return { kind: 'broken', problem: 'the command was ended by a signal' };
  // A shell uses these codes for a command that does not exist or cannot run, so they say nothing about the work.
  if (run.exitCode === 126 || run.exitCode === 127)
    return { kind: 'broken', problem: `the command could not be run: ${feedbackOf(run.stderr)}` };
  if (run.exitCode === 0) return { kind: 'passed' };
  const text = run.stderr.trim() === '' ? run.stdout : run.stderr;
  return { kind: 'failed', feedback: feedbackOf(text) || `the command ended with ${run.exitCode}` };
}

/**
 * `APPROVED` at the beginning, in any case, passes. The feedback is what follows the first `REJECTED:`, otherwise all
 * of it.
 */
export function checkOfReply(reply: string): Exclude<GateCheck, { kind: 'broken' }> {
  const text = reply.trim();
  if (/^approved/i.test(text)) return { kind: 'passed' };
  const rejected = /rejected:/i.exec(text);
  return {
    kind: 'failed',
    feedback: feedbackOf(rejected ? text.slice(rejected.index + rejected[0].length) : text),
  };
}

function feedbackOf(text: string): string {
  return text.trim().slice(0, GATE_LIMITS.feedback).toWellFormed();
}

export const GATE_WORDS = {
  /** The request for a revision that the worker reads. */
  retry: (feedback: string, retry: number, max: number) =>
    `[Quality Gate Feedback — Retry ${retry}/${max}]\n\n${feedback}\n\nRevise your previous result so that it passes. Answer with the whole revised result.`,
  /** The prompt of the evaluating agent. `checkOfReply` reads its answer. */
  evaluate: (task: string, output: string, criteria: string | undefined) =>
    toBeJudged('[Quality Gate]', task, output.slice(0, GATE_LIMITS.shown).toWellFormed(), criteria),
  warning: (name: string, why: string) => `[Quality gate ${name} not passed: ${why}]`,
  blocked: (name: string, why: string, retries: number) =>
    `blocked by quality gate ${name} after ${retries} ${retries === 1 ? 'retry' : 'retries'}: ${why}`,
} as const;

/** The gate in a few words. */
export function gateName(gate: Pick<QualityGate, 'type' | 'command' | 'agent'>): string {
  return gate.type === 'agent'
    ? `agent ${gate.agent ?? ''}`
    : `command ${JSON.stringify((gate.command ?? '').slice(0, 60).toWellFormed())}`;
}
