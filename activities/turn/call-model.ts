/**
 * One model call: takes what the step brings, asks the model, and records the answer with its calls judged (DESIGN §3.1).
 * A repeat after the record gives the recorded answer and pays nothing.
 */
import { type AgentConfig, DEFAULT_ITERATIONS, MAX_ITERATIONS } from '#domain/agent.ts';
import type { Spent } from '#domain/budget.ts';
import { asSubagent } from '#domain/subagent-agent.ts';
import { shownGates, taskGates, turnGates } from '#domain/gate.ts';
import { answerIdOf } from '#domain/ids.ts';
import type { ModelAnswer } from '#domain/model.ts';
import { storableText } from '#domain/storable-text.ts';
import type { TeamContext } from '#domain/team.ts';
import type { CallModelInput, CallModelResult } from '#domain/turn.ts';
import { Failure } from '#domain/errors.ts';
import { NOTHING_SPENT } from '#domain/budget/meter.ts';
import { activityFailure } from '../activity-failure.ts';
import { answerEvents, answerText } from './answer-events.ts';
import { askModel, type AskModelDeps } from './ask-model.ts';
import type { AgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import { allowedReads, type AllowedRead } from '../fast-path/allowed-reads.ts';
import { type EarlyStarts, recordAnswer } from '../fast-path/early-start.ts';
import { callKey, type HandOver, stepKey } from '../fast-path/hand-over.ts';
import { type Given, invokedAnswer, NO_MODEL } from './invoked-answer.ts';
import { type CallPlan, type PlanDeps, planCalls, planRecorded } from '../tool-call/plan-calls.ts';
import { runsCommand } from '../tool-call/runs-at.ts';
import type { ReadAhead } from '../fast-path/read-ahead.ts';
import { recordReads } from '../fast-path/record-reads.ts';
import { END_AT, identicalAnswers } from '../prompt/loop-guard.ts';
import type { Transcript, TranscriptCache } from '../prompt/transcript-cache.ts';
import { type ForAnyTenant, forTenant, hideTexts } from '#store/secrets/scrubber.ts';
import type { AnswerRecord } from '#store/answer-record.ts';
import type { StepBasis, TurnLedger } from '#store/turn-ledger.ts';
import { type Attempt, createTakeOver, type OwnQueue } from '../fast-path/take-over.ts';

export interface CallModelDeps extends PlanDeps, AskModelDeps {
  readonly ledger: TurnLedger;
  /** `catalog` is the native tools; these are an agent's. */
  readonly catalogs: AgentCatalogs;
  readonly transcripts: TranscriptCache;
  readonly handOver: HandOver;
  readonly readAhead: ReadAhead;
  /** Whether the turn of this lease of a team's task is still to answer with the task's result. */
  readonly awaitsAnswer: (tenant: string, team: TeamContext) => Promise<boolean>;
  readonly defaultAgent: string;
  readonly ownQueue: OwnQueue;
  readonly earlyStarts: EarlyStarts;
  readonly rateLimit: { readonly perHour: number };
}

/** The next step after such a call is asked for within the workflow task: the server's round trip is a twentieth of it. */
const QUICK_SECONDS = 0.35;

/** Less than it takes to end a workflow task. */
const INSTANT_SECONDS = 0.02;

const PATIENCE_MS = 500;

type Basis = StepBasis & { readonly readAt: number };

/** Begins a model call that is certain to be asked for next in this worker's workflow task; not when there is no place. */
export type AskAhead = (input: CallModelInput, runId: string) => void;

export interface CallModel {
  readonly activity: (input: CallModelInput) => Promise<CallModelResult>;
  readonly askAhead: AskAhead;
  /** Ends calls that were begun for a turn and that nobody follows; for who ends the turn. */
  readonly endAsked: (tenant: string, turn: string) => Promise<void>;
}

export function createCallModel(parts: ForAnyTenant<CallModelDeps>): CallModel {
  const { run, reserve, endAll } = createTakeOver<CallModelInput, CallModelResult>({
    keyOf: runningKey,
    work: async (input, attempt) =>
      callModel(await forTenant<CallModelDeps>(parts, input.tenant), input, attempt),
    patienceMs: ({ unawaited }) => (unawaited ? 0 : PATIENCE_MS),
    most: parts.ownQueue.most,
    tried: ({ tried = 0 }) => tried,
  });
  return {
    async activity(input) {
      try {
        const pause = input.unawaited ? { pause: true as const } : {};
        return (await run(input)) ?? { kind: 'continues', queue: parts.ownQueue.name, ...pause };
      } catch (error) {
        throw activityFailure(error);
      }
    },
    askAhead: (input, runId) => reserve()?.begin(input, runId),
    endAsked: (tenant, turn) => endAll((input) => input.tenant === tenant && input.turn === turn),
  };
}

/** With what the step brings: a workflow task that was lost and is done again may bring more, which must be read. */
function runningKey({ tenant, turn, step, asked = 0, messages, settle = [] }: CallModelInput): string {
  const brought = [...messages, ...settle].map(({ id }) => id);
  return [stepKey(tenant, turn, step), asked, ...brought].join('/');
}

async function callModel(
  parts: CallModelDeps,
  input: CallModelInput,
  attempt: Attempt,
): Promise<CallModelResult> {
  const known = parts.transcripts.known(input.tenant, input.session);
  const { basis, readAt } = await beginStep(parts, input, attempt, known);
  if (basis.duplicate) return { kind: 'duplicate', ended: basis.ended ?? undefined };
  const agent = agentOf(basis);
  const catalog = await parts.catalogs.of(input.tenant, agent.key, basis.tools_version);
  const deps = { ...parts, catalog };
  if (basis.recorded) return recordedAnswer(deps, input, basis, agent, basis.recorded);

  const transcript = deps.transcripts.extend(input.tenant, input.session, known.position, basis);
  const heard = transcript.rows.at(-1)?.position ?? transcript.summaryPosition;
  const limit = limitReached(agent, transcript, input);
  if (limit) {
    await deps.budgets.release(input, basis.budget, attempt.number, NOTHING_SPENT);
    return limit;
  }
  const invoked = invokedAnswer(deps.sealer, transcript, input);
  if (invoked)
    return record(deps, input, attempt, { ...basis, readAt }, agent, {
      ...invoked,
      spent: NOTHING_SPENT,
      heard,
    });
  if (basis.budget && !basis.budget.held)
    return deps.budgets.atLimit(input, basis.budget.exceeded, nowOf({ ...basis, readAt }));
  await deps.budgets.goOn(input, basis.budget, attempt.number);
  const given = await askModel(deps, input, attempt, basis, agent, transcript);
  return record(deps, input, attempt, { ...basis, readAt }, agent, { ...given, heard });
}

/** By the database's clock. */
function nowOf({ now, readAt }: Basis): number {
  return now + (performance.now() - readAt);
}

/** A step that brings nothing to take or settle may have been read together with the result before it. */
async function beginStep(
  deps: CallModelDeps,
  input: CallModelInput,
  attempt: Attempt,
  known: ReturnType<TranscriptCache['known']>,
): Promise<{ basis: StepBasis; readAt: number }> {
  const { tenant, session, turn, step, messages, settle = [] } = input;
  const handed = deps.handOver.steps.take(stepKey(tenant, turn, step));
  if (
    handed &&
    messages.length === 0 &&
    settle.length === 0 &&
    handed.item.after === known.position &&
    handed.item.summaryAfter === known.summaryPosition &&
    // What an earlier attempt holds is not ours.
    (!handed.item.basis.budget || attempt.number === 1)
  )
    return { basis: handed.item.basis, readAt: handed.readAt };
  const basis = await deps.ledger.beginStep({
    tenant,
    session,
    turn,
    step,
    messages: hideTexts(deps.scrubber, messages),
    settle,
    after: known.position,
    summaryAfter: known.summaryPosition,
    defaultAgent: deps.defaultAgent,
    runId: attempt.runId,
    budget: deps.budgets.request(attempt.number, answerIdOf(turn, step)),
  });
  return { basis, readAt: performance.now() };
}

function agentOf(basis: StepBasis): AgentConfig {
  if (basis.agent) return asSubagent(basis.agent, basis.context.subagent);
  throw new Failure('NotFound', `agent ${basis.agent_key} does not exist; create it or name another`);
}

/** The step was recorded by an earlier attempt: its answer, as that attempt would have returned it. */
function recordedAnswer(
  deps: CallModelDeps,
  input: CallModelInput,
  basis: StepBasis,
  agent: AgentConfig,
  recorded: NonNullable<StepBasis['recorded']>,
): CallModelResult {
  if (recorded.calls.length === 0)
    return {
      kind: 'answer',
      preview: deps.scrubber.preview(recorded.text, PREVIEW),
      ...gatesOf(deps, basis, agent, recorded.model),
      unheard: recorded.unheard ? (true as const) : undefined,
      ended: recorded.ended ? (true as const) : undefined,
    };
  return { kind: 'calls', calls: planRecorded(deps, input.tenant, agent, recorded.calls) };
}

type Judging = Pick<Extract<CallModelResult, { kind: 'answer' }>, 'gates'>;

/** What must judge an answer before it is handed out; a call made over the API is no answer of the agent. */
function gatesOf(
  deps: CallModelDeps,
  { context }: StepBasis,
  agent: AgentConfig,
  ref: string,
  isTasks = true,
): Judging {
  const all = ref === NO_MODEL ? [] : turnGates(agent, context);
  const gates = isTasks ? all : all.slice(0, all.length - taskGates(agent, context).length);
  return gates.length > 0 ? { gates: shownGates(gates, deps.scrubber.text) } : {};
}

/** The same for a new answer: what a member says after it has handed its task in is not the task's result. */
async function gatesNow(
  deps: CallModelDeps,
  tenant: string,
  basis: StepBasis,
  agent: AgentConfig,
  ref: string,
): Promise<Judging> {
  const { team } = basis.context;
  const asks = team !== undefined && taskGates(agent, basis.context).length > 0;
  return gatesOf(deps, basis, agent, ref, !asks || (await deps.awaitsAnswer(tenant, team)));
}

/** EX-7. */
function limitReached(
  agent: AgentConfig,
  transcript: Transcript,
  input: CallModelInput,
): CallModelResult | undefined {
  const iterations = Math.min(agent.limits?.iterations ?? DEFAULT_ITERATIONS, MAX_ITERATIONS);
  if (input.step > iterations) {
    const message = `the turn has made its ${iterations} model calls (limits.iterations); send a message to go on`;
    return { kind: 'limit', code: 'IterationLimit', message };
  }
  const repeats = identicalAnswers(transcript.rows, input.turn);
  if (repeats < END_AT) return undefined;
  return {
    kind: 'limit',
    code: 'LoopDetected',
    message: `the model asked for the identical call ${repeats} times in a row`,
  };
}

async function record(
  deps: CallModelDeps,
  input: CallModelInput,
  attempt: Attempt,
  basis: Basis,
  agent: AgentConfig,
  given: Given & { readonly spent: Spent } & Pick<AnswerRecord, 'uses' | 'heard'>,
): Promise<CallModelResult> {
  const { answer, ref } = given;
  const said = ref === NO_MODEL ? answer.text : answerText(answer);
  const text = storableText(deps.scrubber.text(said));
  const runs = answer.calls.some((call) => {
    const found = deps.catalog.find(call.name);
    return found !== undefined && runsCommand(found.tool);
  });
  const place = runs ? await deps.placeOf(basis.sandbox) : 'host';
  const where = { tenant: input.tenant, turn: input.turn, step: input.step };
  const callBasis = { ...basis, ...where, agent, askedAt: nowOf(basis), place } as const;
  const plan = await planCalls(deps, callBasis, answer.calls);
  const judging = plan.calls.length === 0 ? await gatesNow(deps, input.tenant, basis, agent, ref) : {};
  const isWithheld = judging.gates !== undefined;
  const usd = deps.models.cost(ref, answer.usage)?.usd;
  const id = answerIdOf(input.turn, input.step);
  const written = {
    id,
    text,
    finish: answer.finish,
    model: ref,
    usage: answer.usage,
    usd,
    uses: given.uses,
    heard: given.heard,
    budget: basis.budget?.held ? { attempt: attempt.number, spent: given.spent } : undefined,
    withheld: isWithheld ? (true as const) : undefined,
    ends: plan.calls.length === 0 && !isWithheld ? input.ends : undefined,
  };
  const events = answerEvents(plan, id, isWithheld ? '' : text, input.step);
  const reads = allowedReads(deps.catalog, input, { ...basis, agent }, plan.calls);
  const ahead = await readAhead(deps, input, attempt, basis, plan, reads);
  const fate = ahead
    ? await recordReads(deps, input, { answer: written, calls: plan.calls, events, results: ahead })
    : await recordAnswer(deps, input, attempt, { ...basis, agent }, { answer: written, plan, events });
  // Another attempt of this step was first: its answer is the one that counts, or the messages that it has taken are to be read.
  if (fate === 'refused') return callModel(deps, input, attempt);
  if (!ahead)
    for (const { id: call, running } of reads)
      deps.handOver.calls.put(callKey(input.tenant, call), running, basis.readAt);
  const spent = spentText(basis, answer, usd);
  if (plan.calls.length > 0)
    return {
      kind: 'calls',
      calls: plan.planned,
      spent,
      ...paceOf(given.spent.seconds),
    };
  const ended = fate === 'ended' ? (true as const) : undefined;
  return { kind: 'answer', preview: deps.scrubber.preview(text, PREVIEW), spent, ...judging, ended };
}

/** Only when nothing else was asked for, and nothing is reserved: what is settled then locks accounts of its own. */
async function readAhead(
  deps: CallModelDeps,
  input: CallModelInput,
  { signal }: Attempt,
  basis: Basis,
  plan: CallPlan,
  reads: readonly AllowedRead[],
): ReturnType<ReadAhead> {
  if (basis.budget || reads.length !== plan.calls.length) return undefined;
  // With nothing known the whole transcript would come along.
  if (deps.transcripts.known(input.tenant, input.session).position === 0) return undefined;
  const { catalog } = deps;
  return deps.readAhead({ tenant: input.tenant, catalog, calls: reads, readAt: basis.readAt, signal });
}

function paceOf(seconds: number): { readonly quick?: true | 'waiting' } {
  if (seconds > QUICK_SECONDS) return {};
  return { quick: seconds > INSTANT_SECONDS ? 'waiting' : true };
}

/** What history keeps of an answer, for people who read it in the web UI. */
const PREVIEW = 500;

function spentText(basis: StepBasis, answer: ModelAnswer, usd: number | undefined): string {
  const tokens =
    basis.spent.input + basis.spent.output + answer.usage.inputTokens + answer.usage.outputTokens;
  const money = (basis.spent.usd ?? 0) + (usd ?? 0);
  return money > 0 ? `${tokens} tokens, $${money.toFixed(4)}` : `${tokens} tokens`;
}
