/**
 * One model call: takes what the step brings, asks the model, and records the answer with its calls judged (DESIGN §3.1).
 * A repeat after the record gives the recorded answer and pays nothing.
 */
import { Context } from '@temporalio/activity';
import { type AgentConfig, DEFAULT_ITERATIONS, MAX_ITERATIONS } from '#domain/agent.ts';
import type { NewEvent } from '#domain/event.ts';
import { asSubagent } from '#domain/subagent-agent.ts';
import { answerIdOf } from '#domain/ids.ts';
import { type ModelAnswer, ModelError, type OfferedTool } from '#domain/model.ts';
import { storableText } from '#domain/storable-text.ts';
import type { CallModelInput, CallModelResult } from '#domain/turn.ts';
import { Failure } from '#domain/errors.ts';
import { activityFailure } from './activity-failure.ts';
import { createDeltaFeed } from './delta-feed.ts';
import type { AgentCatalogs } from './custom-tools/agent-catalogs.ts';
import { callKey, type HandOver, stepKey } from './hand-over.ts';
import { generateWithFallback } from './model/fallback.ts';
import { type Given, invokedAnswer } from './invoked-answer.ts';
import type { Models } from './model/model-catalog.ts';
import { type CallPlan, type PlanDeps, planCalls, planRecorded } from './plan-calls.ts';
import { buildPrompt, type Prompt } from './prompt/build-prompt.ts';
import { isNearlyFull, planCompaction, tokensOf } from './prompt/compact.ts';
import { END_AT, identicalAnswers } from './prompt/loop-guard.ts';
import type { Transcript, TranscriptCache } from './prompt/transcript-cache.ts';
import { type ForAnyTenant, forTenant, hideTexts } from './scrubber.ts';
import type { StepBasis, TurnLedger } from './store/turn-ledger.ts';

export interface CallModelDeps extends PlanDeps {
  readonly ledger: TurnLedger;
  readonly models: Models;
  /** `catalog` is the native tools; these are an agent's. */
  readonly catalogs: AgentCatalogs;
  readonly transcripts: TranscriptCache;
  readonly handOver: HandOver;
  readonly defaultAgent: string;
}

export function createCallModel(
  parts: ForAnyTenant<CallModelDeps>,
): (input: CallModelInput) => Promise<CallModelResult> {
  return async (input) => {
    try {
      return await callModel(await forTenant<CallModelDeps>(parts, input.tenant), input);
    } catch (error) {
      throw activityFailure(error);
    }
  };
}

async function callModel(parts: CallModelDeps, input: CallModelInput): Promise<CallModelResult> {
  const known = parts.transcripts.known(input.tenant, input.session);
  const { basis, readAt } = await beginStep(parts, input, known);
  if (basis.duplicate) return { kind: 'duplicate' };
  const agent = agentOf(basis);
  const catalog = await parts.catalogs.of(input.tenant, agent.key, basis.tools_version);
  const deps = { ...parts, catalog };
  if (basis.recorded) return recordedAnswer(deps, input, agent, basis.recorded);

  const transcript = deps.transcripts.extend(input.tenant, input.session, known.position, basis);
  const limit = limitReached(agent, transcript, input);
  if (limit) return limit;
  const given =
    invokedAnswer(deps.sealer, transcript, input) ?? (await askModel(deps, input, basis, agent, transcript));
  return record(deps, input, { ...basis, readAt }, agent, given);
}

/** A step that brings nothing to take or settle may have been read together with the result before it. */
async function beginStep(
  deps: CallModelDeps,
  input: CallModelInput,
  known: ReturnType<TranscriptCache['known']>,
): Promise<{ basis: StepBasis; readAt: number }> {
  const { tenant, session, turn, step, messages, settle = [] } = input;
  const handed = deps.handOver.steps.take(stepKey(tenant, turn, step));
  if (
    handed &&
    messages.length === 0 &&
    settle.length === 0 &&
    handed.item.after === known.position &&
    handed.item.summaryAfter === known.summaryPosition
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
    runId: Context.current().info.workflowExecution?.runId ?? '',
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
  agent: AgentConfig,
  recorded: NonNullable<StepBasis['recorded']>,
): CallModelResult {
  if (recorded.calls.length === 0)
    return { kind: 'answer', preview: deps.scrubber.preview(recorded.text, PREVIEW) };
  return { kind: 'calls', calls: planRecorded(deps, input.tenant, agent, recorded.calls) };
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

async function askModel(
  deps: CallModelDeps,
  input: CallModelInput,
  basis: StepBasis,
  agent: AgentConfig,
  transcript: Transcript,
): Promise<Given> {
  const refs = typeof agent.model === 'string' ? [agent.model] : agent.model;
  const window = Math.min(...refs.map((ref) => deps.models.contextWindow(ref)));
  let current = transcript;
  if (isNearlyFull(current, window)) current = await compact(deps, input, refs, current, window);
  const tools = deps.catalog.offer(
    agent.tool_names ?? 'canonical',
    deps.rules.offered({ ...basis, agent }, deps.catalog),
  );
  const ask = (prompt: Prompt): Promise<Given> =>
    generate(deps, input, refs, { ...prompt, tools }, agent.limits?.output_tokens);
  try {
    return await ask(buildPrompt(agent, current, input.turn, basis.leads ?? []));
  } catch (error) {
    if (!(error instanceof ModelError && error.code === 'ContextOverflow')) throw error;
    // The window is smaller than we think: what was refused is the better measure.
    const smaller = await compact(deps, input, refs, current, Math.min(window, tokensOf(current)) / 2);
    if (smaller === current) throw error;
    return ask(buildPrompt(agent, smaller, input.turn, basis.leads ?? []));
  }
}

/** Gives the same transcript back when nothing can be left out of it. */
async function compact(
  deps: CallModelDeps,
  input: CallModelInput,
  refs: readonly string[],
  transcript: Transcript,
  window: number,
): Promise<Transcript> {
  const plan = planCompaction(transcript, window);
  if (!plan) return transcript;
  const { answer } = await generateWithFallback(deps.models, refs, {
    system: 'You write summaries.',
    messages: plan.messages,
    tools: [],
    idempotencyKey: `${answerIdOf(input.turn, input.step)}.summary.${plan.position}`,
    signal: Context.current().cancellationSignal,
    onDelta: () => undefined,
  });
  const summary = storableText(deps.scrubber.text(answer.text));
  await deps.ledger.recordSummary(input, summary, plan.position);
  return {
    summary,
    summaryPosition: plan.position,
    rows: transcript.rows.filter((row) => row.position > plan.position),
  };
}

async function generate(
  deps: CallModelDeps,
  input: CallModelInput,
  refs: readonly string[],
  request: Prompt & { tools: readonly OfferedTool[] },
  maxOutputTokens: number | undefined,
): Promise<Given> {
  const { info, cancellationSignal } = Context.current();
  const feed = createDeltaFeed((events) => deps.ledger.appendEvents(input, events), {
    step: input.step,
    attempt: info.attempt,
    secrets: deps.scrubber.stream(),
  });
  try {
    return await generateWithFallback(
      deps.models,
      refs,
      {
        ...request,
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
        idempotencyKey: answerIdOf(input.turn, input.step),
        attempt: info.attempt,
        signal: cancellationSignal,
        onDelta: feed.add,
      },
      { onFallback: feed.reset },
    );
  } finally {
    await feed.close();
  }
}

async function record(
  deps: CallModelDeps,
  input: CallModelInput,
  basis: StepBasis & { readonly readAt: number },
  agent: AgentConfig,
  given: Given,
): Promise<CallModelResult> {
  const { answer, ref } = given;
  const text = storableText(deps.scrubber.text(answer.text));
  const askedAt = basis.now + (performance.now() - basis.readAt);
  const callBasis = { ...basis, agent, askedAt, tenant: input.tenant, turn: input.turn, step: input.step };
  const plan = planCalls(deps, callBasis, answer.calls);
  const usd = deps.models.cost(ref, answer.usage)?.usd;
  const id = answerIdOf(input.turn, input.step);
  const recorded = await deps.ledger.recordAnswer(
    input,
    {
      id,
      text,
      finish: answer.finish,
      model: ref,
      usage: answer.usage,
      ...(usd === undefined ? {} : { usd }),
    },
    plan.calls,
    plan.approvals,
    answerEvents(plan, id, text, input.step),
  );
  // Another attempt of this step was first; its answer is the one that counts.
  if (!recorded) return callModel(deps, input);
  handOverReads(deps, input, basis, agent, plan);
  const spent = spentText(basis, answer, usd);
  if (plan.calls.length > 0) return { kind: 'calls', calls: plan.planned, spent };
  return { kind: 'answer', preview: deps.scrubber.preview(text, PREVIEW), spent };
}

/** Calls that only read and are allowed by the newest rules need not ask the ledger what has just been written there. */
function handOverReads(
  deps: CallModelDeps,
  input: CallModelInput,
  basis: StepBasis & { readonly readAt: number },
  agent: AgentConfig,
  plan: CallPlan,
): void {
  if (!basis.agent_current) return;
  for (const call of plan.calls) {
    if (call.verdict !== 'allow' || deps.catalog.find(call.tool)?.tool.replay !== 'readonly') continue;
    const { tool, asked_as, summary, args, sealed = null, digest } = call;
    const { context, tenant_policy, allowlist } = basis;
    const place = { session: input.session, turn: input.turn, step: input.step };
    const asked = {
      ...place,
      tool,
      asked_as,
      summary,
      args,
      sealed,
      digest,
      context,
      tenant_policy,
      agent,
      allowlist,
    };
    const key = callKey(input.tenant, call.id);
    deps.handOver.calls.put(key, { kind: 'run', claimed: false, approved: false, ...asked }, basis.readAt);
  }
}

/** What history keeps of an answer, for people who read it in the web UI. */
const PREVIEW = 500;

function answerEvents(plan: CallPlan, messageId: string, text: string, step: number): NewEvent[] {
  const said: NewEvent[] =
    text === '' ? [] : [{ type: 'message.completed', data: { message_id: messageId, text, step } }];
  const asked = plan.approvals.map((approval): NewEvent => {
    const { id, call_id, tool, summary, args, reason, risk, expires_at } = approval;
    return {
      type: 'approval.requested',
      data: { approval_id: id, call_id, tool, summary, args, reason, risk, expires_at },
    };
  });
  const refused = plan.calls
    .filter((call) => call.state === 'done')
    .map((call): NewEvent => {
      const { id, tool, summary, code, reason } = call;
      return {
        type: 'tool.completed',
        data: { call_id: id, tool, summary, step, ok: false, code, preview: reason },
      };
    });
  return [...said, ...asked, ...refused];
}

function spentText(basis: StepBasis, answer: ModelAnswer, usd: number | undefined): string {
  const tokens =
    basis.spent.input + basis.spent.output + answer.usage.inputTokens + answer.usage.outputTokens;
  const money = (basis.spent.usd ?? 0) + (usd ?? 0);
  return money > 0 ? `${tokens} tokens, $${money.toFixed(4)}` : `${tokens} tokens`;
}
