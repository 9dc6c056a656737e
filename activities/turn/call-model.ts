/**
 * One model call: takes what the step brings, asks the model, and records the answer with its calls judged (DESIGN §3.1).
 * A repeat after the record gives the recorded answer and pays nothing.
 */
import { type AgentConfig, DEFAULT_ITERATIONS, MAX_ITERATIONS } from '#domain/agent.ts';
import type { Spent } from '#domain/budget.ts';
import { agentOfTurn } from '#domain/subagent-agent.ts';
import { shownGates, taskGates, turnGates } from '#domain/gate.ts';
import { answerIdOf } from '#domain/ids.ts';
import type { ModelAnswer } from '#domain/model.ts';
import { storableText } from '#domain/storable-text.ts';
import type { ModelUse } from '#domain/model-use.ts';
import type { TeamContext } from '#domain/team.ts';
import type { CallModelInput, CallModelResult } from '#domain/turn.ts';
import { Failure } from '#domain/errors.ts';
import { createMeter, NOTHING_SPENT } from '#domain/budget/meter.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { Attempt } from '../attempt.ts';
import type { ModelActivity, ReadBasis, StepEngine } from './step-engine.ts';
import type { Guards } from '../guards.ts';
import { answerEvents, answerText } from './answer-events.ts';
import { askModel, type AskModelDeps } from './ask-model.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import { type PromptHookDeps, runPromptHooks } from './run-prompt-hooks.ts';
import { type AnswerGiven, invokedAnswer, NO_MODEL } from './invoked-answer.ts';
import { type PlanDeps, planCalls, planRecorded } from '../tool-call/plan-calls.ts';
import { runsCommand } from '../tool-call/runs-at.ts';
import { END_AT, identicalAnswers } from '../prompt/loop-guard.ts';
import {
  type KnownTranscript,
  NOTHING_KNOWN,
  type Transcript,
  type TranscriptCache,
} from '../prompt/transcript-cache.ts';
import { type ForAnyTenant, forTenant, hideTexts } from '#store/secrets/scrubber.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';
import type { AnswerRecord } from '#store/answer-record.ts';
import type { StepBasis } from '#store/step-basis.ts';
import type { TurnLedger } from '#store/turn-ledger.ts';

export interface CallModelDeps extends PlanDeps, AskModelDeps, Pick<PromptHookDeps, 'markHooked'> {
  readonly guards: Guards;
  readonly ledger: TurnLedger;
  /** `catalog` is the native tools; these are an agent's. */
  readonly catalogs: AgentCatalogs;
  readonly transcripts: TranscriptCache;
  readonly engine: StepEngine;
  /** Whether the turn of this lease of a team's task is still to answer with the task's result. */
  readonly awaitsAnswer: (tenant: string, team: TeamContext) => Promise<boolean>;
  readonly defaultAgent: string;
  readonly workspaceOf: WorkspaceOf;
}

export function createCallModel(parts: ForAnyTenant<CallModelDeps>): ModelActivity {
  const run = parts.engine.modelActivity(async (input, attempt) =>
    callModel(await forTenant<CallModelDeps>(parts, input.tenant), input, attempt),
  );
  return failingAs(activityFailure, run);
}

async function callModel(
  parts: CallModelDeps,
  input: CallModelInput,
  attempt: Attempt,
): Promise<CallModelResult> {
  const { known, basis: read } = await readBasis(parts, input, attempt);
  if (read.duplicate) return { kind: 'duplicate', ended: read.ended ?? undefined };
  const agent = agentOf(read);
  const catalog = await parts.catalogs.of(input.tenant, agent.key, read.tools_version);
  const deps = { ...parts, catalog };
  if (read.recorded) return recordedAnswer(deps, input, read, agent, read.recorded);
  const { basis, denied, uses } = await runPromptHooks(deps, input, read, agent, attempt.signal);

  const end = async (limit: CallModelResult): Promise<CallModelResult> => {
    await deps.budgets.release(input, basis.budget, attempt.number, withUses(NOTHING_SPENT, uses), uses);
    return limit;
  };
  // Before it is known: a repeat must find what was denied.
  if (denied) return end(denied);
  const transcript = deps.transcripts.extend(input.tenant, input.session, known.position, basis);
  const lastHeardAt = transcript.rows.at(-1)?.position ?? transcript.summaryPosition;
  const limit = limitReached(agent, transcript, input);
  if (limit) return end(limit);
  const invoked = invokedAnswer(deps.sealer, transcript, input);
  if (invoked)
    return record(deps, input, attempt, basis, agent, {
      ...invoked,
      spent: NOTHING_SPENT,
      readUpTo: lastHeardAt,
    });
  if (basis.budget && !basis.budget.held)
    return deps.budgets.atLimit(input, basis.budget.exceeded, nowOf(basis));
  await deps.budgets.goOn(input, basis.budget, attempt.number);
  deps.engine.beforeModelCall(attempt, agent);
  const options = await askModel(deps, input, attempt, basis, agent, transcript);
  return record(deps, input, attempt, basis, agent, { ...counting(options, uses), readUpTo: lastHeardAt });
}

type Given = AnswerGiven & { readonly spent: Spent; readonly uses?: readonly ModelUse[] | undefined };

/** What hooks used counts with the answer. */
function counting(input: Given, uses: readonly ModelUse[]): Given {
  if (uses.length === 0) return input;
  return { ...input, spent: withUses(input.spent, uses), uses: [...(input.uses ?? []), ...uses] };
}

function withUses(spent: Spent, uses: readonly ModelUse[]): Spent {
  const meter = createMeter();
  for (const { usage, usd } of uses) meter.add(usage, usd);
  const { tokens, usd } = meter.spent(0);
  const sum = spent.usd === undefined || usd === undefined ? undefined : spent.usd + usd;
  return { ...spent, tokens: spent.tokens + tokens, usd: sum };
}

/** What the step goes by, and which part of the transcript is not in it since this worker knows it. */
async function readBasis(
  parts: CallModelDeps,
  input: CallModelInput,
  attempt: Attempt,
): Promise<{ readonly known: KnownTranscript; readonly basis: ReadBasis }> {
  const known = parts.transcripts.known(input.tenant, input.session);
  const basis =
    parts.engine.knownBasis(input, attempt, known) ?? (await beginStep(parts, input, attempt, known));
  if (basis.duplicate || known.since === undefined || known.since === basis.since) return { known, basis };
  return { known: NOTHING_KNOWN, basis: await beginStep(parts, input, attempt, NOTHING_KNOWN) };
}

/** By the database's clock. */
function nowOf({ now, readAt }: ReadBasis): number {
  return now + (performance.now() - readAt);
}

async function beginStep(
  deps: CallModelDeps,
  { tenant, session, turn, step, messages, settle = [] }: CallModelInput,
  attempt: Attempt,
  known: KnownTranscript,
): Promise<ReadBasis> {
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
  return { ...basis, readAt: performance.now() };
}

function agentOf(basis: StepBasis): AgentConfig {
  if (basis.agent) return agentOfTurn(basis.agent, basis.context);
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
  basis: ReadBasis,
  agent: AgentConfig,
  request: Given & Pick<AnswerRecord, 'readUpTo'>,
): Promise<CallModelResult> {
  const { answer, ref } = request;
  const words = ref === NO_MODEL ? answer.text : answerText(answer);
  const text = storableText(deps.scrubber.text(words));
  const catalog = askedOf(deps, agent, ref);
  const runs = answer.calls.some(({ name }) => {
    const found = catalog.find(name);
    return found !== undefined && runsCommand(found.tool);
  });
  const place = runs ? await deps.placeOf(basis.sandbox) : 'host';
  const where = { tenant: input.tenant, session: input.session, turn: input.turn, step: input.step };
  const { workspace } = deps.workspaceOf(input.tenant, agent, { ...basis.context, session: input.session });
  const callBasis = { ...basis, ...where, agent, askedAt: nowOf(basis), place, workspace } as const;
  const plan = await planCalls({ ...deps, catalog }, callBasis, answer.calls, attempt.signal);
  const options = { ...request, ...counting(request, plan.uses) };
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
    uses: options.uses,
    readUpTo: options.readUpTo,
    budget: basis.budget?.held ? { attempt: attempt.number, spent: options.spent } : undefined,
    withheld: isWithheld ? (true as const) : undefined,
    ends: plan.calls.length === 0 && !isWithheld ? input.ends : undefined,
  };
  const events = answerEvents(plan, id, isWithheld ? '' : text, input.step);
  const recording = {
    input,
    attempt,
    basis: { ...basis, agent },
    catalog: deps.catalog,
    plan,
    answer: written,
    events,
  };
  const fate = await deps.engine.recordAnswer(recording);
  // Another attempt of this step was first: its answer is the one that counts, or the messages that it has taken are to be read.
  if (fate === 'refused') return callModel(deps, input, attempt);
  const spent = spentText(basis, answer, usd);
  const ended = fate === 'ended' ? (true as const) : undefined;
  const result: CallModelResult =
    plan.calls.length > 0
      ? { kind: 'calls', calls: plan.planned, spent }
      : { kind: 'answer', preview: deps.scrubber.preview(text, PREVIEW), spent, ...judging, ended };
  return deps.engine.afterAnswer(result, agent, ref, options.spent.seconds);
}

/** The tools by the names that the answer has them by: the dialect's of a model, their own where no model has asked. */
function askedOf({ catalog }: CallModelDeps, agent: AgentConfig, ref: string): CallModelDeps['catalog'] {
  return ref === NO_MODEL ? catalog : catalog.in(agent.tool_names ?? 'canonical');
}

/** What history keeps of an answer, for people who read it in the web UI. */
const PREVIEW = 500;

function spentText(basis: StepBasis, answer: ModelAnswer, usd: number | undefined): string {
  const tokens =
    basis.spent.input + basis.spent.output + answer.usage.inputTokens + answer.usage.outputTokens;
  const money = (basis.spent.usd ?? 0) + (usd ?? 0);
  return money > 0 ? `${tokens} tokens, $${money.toFixed(4)}` : `${tokens} tokens`;
}
