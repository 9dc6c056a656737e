/**
 * The one path round every tool (EX-3): claim with rate limit and approval, judge again, run, scrub, cut, record. A tool
 * is an activity type of its own; this is what each of them does.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { taskGates } from '#domain/gate.ts';
import { teamWorkspace } from '#domain/team.ts';
import { toolError, MODEL_RESULT_BYTES, type ToolResult } from '#domain/tool.ts';
import {
  BOX_EXEC_SECONDS,
  HOST_EXEC_SECONDS,
  MOUNT,
  sandboxOf,
  type SandboxSettings,
  sandboxTerms,
} from '#domain/sandbox.ts';
import type { CommandPlace } from '#domain/shell/allowlist.ts';
import { asSubagent } from '#domain/subagent-agent.ts';
import { storableText } from '#domain/storable-text.ts';
import type { RunToolInput, RunToolResult } from '#domain/turn.ts';
import { answerIdOf } from '#domain/ids.ts';
import { activityFailure } from './activity-failure.ts';
import type { BudgetDesk } from './budget-desk.ts';
import { callDigest, canonical } from './call-digest.ts';
import { type CallRules, EXEC } from './call-rules.ts';
import { readArguments } from './read-arguments.ts';
import type { AgentCatalogs } from './custom-tools/agent-catalogs.ts';
import type { RunningCall, Tool } from './define-tool.ts';
import type { Deps } from './deps.ts';
import { callKey, type HandOver, type Running, stepKey } from './hand-over.ts';
import type { TranscriptCache } from './prompt/transcript-cache.ts';
import { type ForAnyTenant, forTenant, type Scrubber } from './scrubber.ts';
import { type PlaceOf, realArgs } from './plan-calls.ts';
import type { BudgetSettlement } from './store/budget-ledger.ts';
import { isTransient } from './store/pool.ts';
import type { Sealer } from './store/seal.ts';
import type { Claim, RecordedResult, TurnLedger } from './store/turn-ledger.ts';
import { cutText } from './cut-text.ts';
import { type Unrun, whyUnrun } from './why-unrun.ts';

export interface RunToolDeps {
  readonly ledger: TurnLedger;
  readonly catalogs: AgentCatalogs;
  readonly rules: CallRules;
  readonly scrubber: Scrubber;
  readonly sealer: Sealer;
  readonly tools: Deps;
  readonly workspaceOf: (tenant: string, agentWorkspace: string) => string;
  readonly handOver: HandOver;
  /** Of the settings, for agents that do not say otherwise. */
  readonly sandbox: SandboxSettings;
  readonly placeOf: PlaceOf;
  readonly transcripts: Pick<TranscriptCache, 'known'>;
  readonly rateLimit: { readonly perHour: number; readonly burst: number };
  /** Names this process among all that ever ran: part of each attempt's fence. */
  readonly workerId: string;
  readonly budgets: BudgetDesk;
}

export function createRunTool(
  parts: ForAnyTenant<RunToolDeps>,
  tool: Tool,
): (input: RunToolInput) => Promise<RunToolResult> {
  return async (input) => {
    try {
      return await runTool(await forTenant<RunToolDeps>(parts, input.tenant), tool, input);
    } catch (error) {
      throw activityFailure(error);
    }
  };
}

/**
 * The same for tools that are no activity types of their own: `toolOf` finds the one that a call was planned with. An
 * activity type that nobody here knows is left to be retried, by a newer worker that has it.
 */
export function createRunCustomTool(
  parts: ForAnyTenant<RunToolDeps>,
  toolOf: (input: RunToolInput) => Promise<Tool | undefined>,
): (input: RunToolInput) => Promise<RunToolResult> {
  return async (input) => {
    const tool = await toolOf(input).catch((error: unknown) => {
      throw activityFailure(error);
    });
    if (tool) return createRunTool(parts, tool)(input);
    const { activityType } = Context.current().info;
    throw ApplicationFailure.retryable(`this worker has no activity ${activityType}`, 'NotFoundError');
  };
}

async function runTool(deps: RunToolDeps, tool: Tool, input: RunToolInput): Promise<RunToolResult> {
  const { activityId, attempt } = Context.current().info;
  const fence = `${deps.workerId}/${activityId}.${attempt}`;
  const handed = deps.handOver.calls.take(callKey(input.tenant, input.call));
  // Every call takes its token from the bucket, and the ledger has that.
  const claim: Claim =
    handed && deps.rateLimit.perHour === 0
      ? handed.item
      : await deps.ledger.claim(input.tenant, input.call, fence, {
          once: tool.replay === 'once',
          reads: tool.replay === 'readonly',
          ...deps.rateLimit,
          ...(tool.limits.costly ? { budget: deps.budgets.request(attempt) } : {}),
        });
  if (claim.kind === 'missing') return { ok: false, code: 'NotFound' };
  if (claim.kind === 'done') {
    const { ok, code, child } = claim;
    return { ok: ok ?? false, ...(code ? { code } : {}), ...(child ? { child } : {}) };
  }
  if (claim.kind !== 'run') return settleUnrun(deps, input, claim);

  const started = performance.now();
  const result = await perform(deps, tool, input, claim);
  return recordResult(deps, tool, input, claim, fence, result, performance.now() - started);
}

/** Never throws: what goes wrong in a tool is a result for the model (EX-4). */
async function perform(
  deps: RunToolDeps,
  tool: Tool,
  input: RunToolInput,
  claim: Running,
): Promise<ToolResult> {
  if (tool.gone !== undefined) return toolError('NotFound', tool.gone);
  try {
    const args = realArgs(deps.sealer, input.tenant, {
      id: input.call,
      args: claim.args,
      sealed: claim.sealed,
    });
    const bound = claim.sandbox ?? undefined;
    if (bound && canonical(bound) !== canonical(sandboxTerms(sandboxOf(deps.sandbox, claim.agent.sandbox))))
      return toolError('PermissionDenied', movedSince(claim));
    if (callDigest(claim.tool, args, tool.definition, bound) !== claim.digest)
      return toolError('PermissionDenied', unlike(tool));
    const user = claim.context.user ?? null;
    const verdict = deps.rules.judge({
      agent: claim.agent,
      user,
      tenant_policy: claim.tenant_policy,
      context: claim.context,
      tool,
      args,
      allowlist: claim.allowlist,
      place: await placeFor(deps, tool, claim),
    });
    if (verdict.verdict === 'deny') return toolError('PermissionDenied', verdict.reason);
    if (verdict.verdict === 'ask' && !claim.approved)
      return toolError('PermissionDenied', `the rules now ask for an approval: ${verdict.reason}`);
    const read = readArguments(tool, undefined, args);
    if (!read.ok) return toolError('InvalidArgs', read.message);
    return await tool.run(deps.tools, read.input, callContext(deps, input, claim, user));
  } catch (error) {
    if (Context.current().cancellationSignal.aborted) return stoppedResult(tool);
    return toolError('ExecutionFailed', error instanceof Error ? error.message : 'the tool failed');
  }
}

function callContext(
  deps: RunToolDeps,
  input: RunToolInput,
  claim: Running,
  user: string | null,
): RunningCall {
  const { agent, context } = claim;
  const sandbox = sandboxOf(deps.sandbox, agent.sandbox);
  return {
    tenant: input.tenant,
    agent: agent.key,
    user,
    sessionKey: claim.session,
    turnId: claim.turn,
    channel: context.channel ?? null,
    chatId: context.chat_id ?? null,
    callId: input.call,
    askedAs: claim.asked_as,
    hasSecret: (text) => deps.scrubber.text(text) !== text,
    exec: {
      timeoutSeconds: agent.exec?.timeout_seconds ?? HOST_EXEC_SECONDS,
      boxTimeoutSeconds: agent.exec?.timeout_seconds ?? BOX_EXEC_SECONDS,
    },
    ...(sandbox === undefined ? {} : { sandbox, mount: MOUNT }),
    ...(context.subagent ? { subagent: context.subagent } : {}),
    thinking: asSubagent(agent, context.subagent).thinking,
    ...(context.team ? { team: context.team } : {}),
    ...(taskGates(agent, context).length > 0 ? { isTaskJudged: true as const } : {}),
    roles: context.roles ?? [],
    toolsGiven: async () => deps.rules.offered(claim, await deps.catalogs.of(input.tenant, agent.key)),
    workspace: deps.workspaceOf(
      input.tenant,
      context.team ? teamWorkspace(context.team.key) : (agent.workspace ?? agent.key),
    ),
    signal: Context.current().cancellationSignal,
    idempotencyKey: `${input.tenant}/${input.call}`,
    progress: (text) => {
      const data = { call_id: input.call, text: storableText(deps.scrubber.text(text)) };
      const key = { tenant: input.tenant, session: claim.session, turn: claim.turn };
      // Only for those who watch: a piece that is lost is part of the result all the same.
      deps.ledger.appendEvents(key, [{ type: 'tool.output', data }]).catch(() => undefined);
    },
  };
}

/** Only what was allowed always depends on where a command runs. */
async function placeFor({ placeOf }: RunToolDeps, tool: Tool, claim: Running): Promise<CommandPlace> {
  const depends = tool.name === EXEC && claim.allowlist.some((entry) => entry.tool === EXEC);
  return depends ? placeOf(claim.agent.sandbox ?? null) : 'host';
}

function movedSince({ agent }: Running): string {
  return `the sandbox setting of agent ${agent.key} has changed since this was approved; the call has not run. Make it again to have it asked anew.`;
}

function unlike({ definition, name }: Tool): string {
  return definition === undefined
    ? 'the recorded arguments are not those that were judged; the call has not run'
    : `${name} was changed after the call had been judged; the call has not run`;
}

/** A stopped tool that changes nothing has simply not answered; of any other nobody knows how far it came. */
function stoppedResult(tool: Tool): ToolResult {
  if (tool.replay === 'readonly') return toolError('Cancelled', 'the call was stopped');
  return toolError('Cancelled', 'the call was stopped while it ran; what it had done by then stays done');
}

async function recordResult(
  deps: RunToolDeps,
  tool: Tool,
  input: RunToolInput,
  claim: Running,
  fence: string,
  result: ToolResult,
  milliseconds: number,
): Promise<RunToolResult> {
  const child = result.ok ? result.child : undefined;
  const code = result.ok ? null : result.code;
  const scrubbed = storableText(
    deps.scrubber.text(result.ok ? result.text : `${result.code}: ${result.message}`),
  );
  const { text, whole } = cutText(scrubbed, MODEL_RESULT_BYTES, `/v1/tool-calls/${input.call}/result`);
  const kept = result.whole === undefined ? whole : storableText(deps.scrubber.text(result.whole));
  const preview = deps.scrubber.preview(text, PREVIEW);
  const outcome: RunToolResult = {
    ok: result.ok,
    ...(code ? { code } : { preview }),
    ...(child ? { child } : {}),
  };
  // Its result is what the child will say; until then the call stays open.
  if (child?.wait) return outcome;

  const call = { call_id: input.call, tool: tool.name, summary: claim.summary, step: claim.step };
  const completed = {
    ...call,
    ok: result.ok,
    ...(code ? { code } : {}),
    preview,
    duration_ms: Math.round(milliseconds),
  };
  const known = deps.transcripts.known(input.tenant, claim.session);
  const { next } = await untilRecorded(() =>
    deps.ledger.recordResult({
      tenant: input.tenant,
      session: claim.session,
      call: input.call,
      fence,
      ok: result.ok,
      code,
      text,
      ...(kept === undefined ? {} : { whole: kept }),
      ...(child ? { child } : {}),
      events: [
        ...(claim.claimed ? [] : [{ type: 'tool.started', data: call } as const]),
        { type: 'tool.completed', data: completed },
      ],
      // With nothing known the transcript is another worker's, and so will be its next step.
      ...(known.position > 0 ? { known } : {}),
      budget: {
        ...(claim.budgeted ? { settle: settlement(milliseconds) } : {}),
        next: deps.budgets.request(1, answerIdOf(claim.turn, claim.step + 1)),
      },
    }),
  );
  if (next) {
    const key = stepKey(input.tenant, claim.turn, claim.step + 1);
    const item = { basis: next, after: known.position, summaryAfter: known.summaryPosition };
    deps.handOver.steps.put(key, item, performance.now());
  }
  return outcome;
}

/** What a costly call has used; what it pays outside is not known to us. */
function settlement(milliseconds: number): BudgetSettlement {
  const { attempt } = Context.current().info;
  return { attempt, spent: { tokens: 0, usd: 0, seconds: milliseconds / 1000, calls: 1 } };
}

/** Characters of a result that history and the feed show. */
const PREVIEW = 200;

/**
 * What has been done must not be forgotten because Postgres is away for a moment: the result is in this process only.
 * Ends with the attempt: start-to-close, or the worker's own end.
 */
async function untilRecorded(record: () => Promise<RecordedResult>): Promise<RecordedResult> {
  for (let wait = 100; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      // When another attempt holds the call or it is over, this result is late and refused; the row tells the outcome.
      return await record();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** The call does not run: why, as its result. */
async function settleUnrun(deps: RunToolDeps, input: RunToolInput, claim: Unrun): Promise<RunToolResult> {
  const { code, message } = whyUnrun(claim);
  const key = { tenant: input.tenant, session: claim.session, turn: claim.turn };
  await deps.ledger.settle(key, [{ id: input.call, ok: false, code, text: `${code}: ${message}` }]);
  return { ok: false, code };
}
