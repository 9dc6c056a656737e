/**
 * Quality gates (DE-6): what an agent's work must pass before anybody reads it. Pure rules; a gate is run by the workflow
 * of the work that it judges, and never for work that is itself a judgement.
 */
import type { gateSchema } from './schema/gate.ts';
import type { Kept } from './schema/scalars.ts';
import { toBeJudged } from './judged-text.ts';

export const GATE_EVENTS = ['delegation.completed', 'task.completed', 'turn.completed'] as const;
export type GateEvent = (typeof GATE_EVENTS)[number];

export const GATE_TYPES = ['command', 'agent'] as const;
export type GateType = (typeof GATE_TYPES)[number];

export const GATE_LIMITS = {
  gates: 20,
  retries: 10,
  seconds: 60,
  /** Of an evaluating agent, when the gate does not say. */
  agentSeconds: 300,
  mostSeconds: 600,
  command: 10_000,
  /** Characters of feedback that go back to the worker. */
  feedback: 8_000,
  /** Characters of the work that an evaluating agent is shown. */
  shown: 100_000,
} as const;

/** Of an agent: what it does must pass. */
export type QualityGate = Kept<typeof gateSchema>;

/** What one run of a gate found. */
export type GateCheck =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly feedback: string }
  /** The gate itself could not say. */
  | { readonly kind: 'broken'; readonly problem: string };

export type GateStep = 'pass' | 'retry' | 'warn' | 'block';

/**
 * What follows from a check. `retries`: revisions that this gate has asked for already. A gate that is broken asks for no
 * revision, since it has nothing to say about the work; it blocks when it was meant to block.
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

/** What is judged: its kind says where it is found by its id. */
export interface JudgedWork {
  readonly kind: 'delegation' | 'turn' | 'task';
  readonly owner_id: string;
}

/** Which run of which gate: attempt 0 judges the work as it was first done. */
export interface GateRun extends JudgedWork {
  readonly tenant: string;
  /** Where the gate stands among those of the event. */
  readonly gate: number;
  readonly attempt: number;
  /** Revisions that this gate has asked for already. */
  readonly retries: number;
  /** Of a turn: the step whose answer is judged. */
  readonly step?: number;
  readonly task?: { readonly team: string; readonly number: number };
}

/** Where judging goes on: the gates before `gate` are done, and `attempt` is next. */
export interface GateCursor {
  readonly gate: number;
  readonly attempt: number;
  /** With which each gate begins; above 0 when work that was judged has changed. */
  readonly first: number;
}

/** A gate as the workflow acts on it. */
export interface ShownGate {
  /** Where it stands among the gates of its event. */
  readonly index: number;
  /** Scrubbed. */
  readonly name: string;
  readonly type: GateType;
  readonly agent?: string;
  readonly max_retries: number;
  readonly block_on_failure: boolean;
  readonly timeout_seconds: number;
}

/** One run of a gate, for people. */
export interface ShownCheck extends GateVerdict {
  readonly gate: string;
  readonly attempt: number;
}

/** What the workflow of the work acts on; the feedback itself is a row. */
export interface GateVerdict {
  readonly kind: GateCheck['kind'];
  readonly step: GateStep;
  /** Scrubbed; for people. */
  readonly preview: string;
}

/** What history shows of them; `hide` scrubs their names, which have words of commands. */
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

/** What says which gates are for the answer of a turn. */
interface JudgedContext {
  readonly delegation?: { readonly ungated?: true };
  readonly subagent?: object;
  readonly team?: { readonly ungated?: true };
}

/** Work within a judgement is not judged itself, however far below it stands. */
export function isUngated({ delegation, team }: Pick<JudgedContext, 'delegation' | 'team'>): boolean {
  return (delegation?.ungated ?? team?.ungated) === true;
}

type Gated = { readonly quality_gates?: readonly QualityGate[] | undefined };

/**
 * Those of an agent's answer to whoever it speaks with; of a member at a team's task also the task's, since its answer is the
 * task's result. None within a judgement, and none of a subagent, whose parent's answer is judged.
 */
export function turnGates(agent: Gated, context: JudgedContext): readonly QualityGate[] {
  if (agent.quality_gates === undefined || isUngated(context) || context.subagent) return [];
  return [...gatesFor(agent.quality_gates, 'turn.completed'), ...taskGates(agent, context)];
}

/** Those that the result of the task must pass that a turn works on. */
export function taskGates(agent: Gated, context: JudgedContext): readonly QualityGate[] {
  if (!context.team || isUngated(context)) return [];
  return gatesFor(agent.quality_gates, 'task.completed');
}

/** The last word of each gate that did not let the work pass; `checks` by gate and attempt. */
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

/** Work as it is handed out, with what its gates only warn of. */
export function withWarnings(text: string, warnings: readonly string[]): string {
  return [text, ...warnings].filter((part) => part !== '').join('\n\n');
}

/** In their order. Another event's gates, or such as name nothing to run, are not among them. */
export function gatesFor(
  gates: readonly QualityGate[] | undefined,
  event: GateEvent,
): readonly QualityGate[] {
  return (gates ?? []).filter((gate) => gate.event === event && gateProblem(gate) === undefined);
}

/** Undefined when the gate has what its type needs. */
export function gateProblem(gate: QualityGate): string | undefined {
  if (gate.type === 'command') {
    if (!gate.command?.trim()) return 'a gate of type command needs a command';
    return gate.agent === undefined ? undefined : 'a gate of type command has no agent';
  }
  if (!gate.agent) return 'a gate of type agent needs an agent';
  return gate.command === undefined ? undefined : 'a gate of type agent has no command';
}

/** Exit 0 passes; else stderr says why, or stdout when it is silent. */
export function checkOfCommand(run: {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly seconds: number;
}): GateCheck {
  if (run.timedOut) return { kind: 'broken', problem: `the command did not end within ${run.seconds} s` };
  if (run.exitCode === null) return { kind: 'broken', problem: 'the command was ended by a signal' };
  // What a shell says of a command that is not there or cannot be run is no word about the work.
  if (run.exitCode === 126 || run.exitCode === 127)
    return { kind: 'broken', problem: `the command could not be run: ${feedbackOf(run.stderr)}` };
  if (run.exitCode === 0) return { kind: 'passed' };
  const text = run.stderr.trim() === '' ? run.stdout : run.stderr;
  return { kind: 'failed', feedback: feedbackOf(text) || `the command ended with ${run.exitCode}` };
}

/** `APPROVED` at the beginning, any case, passes; the feedback is what follows the first `REJECTED:`, else all of it. */
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
  /** What the worker reads when it is to revise. */
  retry: (feedback: string, retry: number, max: number) =>
    `[Quality Gate Feedback — Retry ${retry}/${max}]\n\n${feedback}\n\nRevise your previous result so that it passes. Answer with the whole revised result.`,
  /** What the evaluating agent reads. Its answer is read by `checkOfReply`. */
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
