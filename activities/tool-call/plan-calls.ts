/** Plans the calls that a model requested: each is looked up, read, judged and recorded. */
import type { CommandPlace } from '@tempoclaw/shell-judge';
import { callSummary } from './call-summary.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { AlwaysOffer } from '#domain/approval/approval.ts';
import type { HookRun } from '#domain/turn/hook.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { approvalIdOf, callIdOf } from '#domain/ids.ts';
import type { ModelAnswer } from '#domain/model/model.ts';
import type { Wall } from '@tempoclaw/sandbox/settings';
import {
  BOX_EXEC_SECONDS,
  HOST_EXEC_SECONDS,
  type SandboxSettings,
  sandboxOf,
  sandboxTerms,
} from '#domain/sandbox.ts';
import { storableJson, storableText } from '#domain/text/storable-text.ts';
import type { PlannedCall } from '#domain/turn/turn-activities.ts';
import { type GuardOutcome, type Guards, guardsUntil } from '../guards.ts';
import type { CallDeps } from './call-deps.ts';
import type { NeedsToken } from '../approvals/needs-token.ts';
import { offerOf, plannedApproval } from './planned-approval.ts';
import { runsOf } from './runs-at.ts';
import { callDigest } from './call-digest.ts';
import type { CallToJudge, RuleScope, Verdict } from '#policy/call-rules.ts';
import type { Catalog, ParsedCall, UnreadCall } from '#policy/catalog.ts';
import { denialOfTool, denied, type Refusal } from '#policy/decide-call.ts';
import { lineOf } from '#policy/exec-rules.ts';
import type { NewApproval, NewCall } from '#store/turns/answer-record.ts';
import type { CallRow, RecordedCall } from '#store/turns/step-basis.ts';
import type { Sealer } from '#store/seal.ts';
import type { Tool } from '#policy/define-tool.ts';

/** More calls in one answer than any model intends. */
const MAX_CALLS = 64;

export interface CallScheduler {
  /** How the workflow must run a call. `place` is where its command would run, if known. */
  scheduled(call: PlannedCall, tool: Tool, agent: AgentConfig, place?: CommandPlace): PlannedCall;
}

export interface PlanDeps extends CallDeps {
  readonly guards: Pick<Guards, 'ofCall' | 'plannedCommand'>;
  readonly approvalSeconds: number;
  readonly engine: CallScheduler;
  readonly needsToken: NeedsToken;
  /** Confines commands on this machine. */
  readonly wall: Wall;
}

/** For a call that is already judged. */
export type PlannedDeps = Pick<PlanDeps, 'scrubber' | 'sealer' | 'sandbox' | 'approvalSeconds' | 'engine'>;

export interface CallBasis
  extends RuleScope,
    Pick<CallToJudge, 'allowlist' | 'used' | 'addresses' | 'workspace'> {
  readonly tenant: string;
  readonly session: string;
  /** The agent's tools, by the names in the answer. */
  readonly catalog: Catalog;
  readonly documents?: string | null;
  readonly turn: string;
  readonly step: number;
  readonly user: string | null;
  /** The database's clock: milliseconds since 1970. */
  readonly requestedAt: number;
  /**
   * Sandbox setting of the agent's newest revision: it decides where its calls run, whichever revision the turn has.
   */
  readonly sandbox: AgentConfig['sandbox'] | null;
  /** Where a command would run. */
  readonly place: CommandPlace;
  /** Each call runs after the earlier ones, whatever its tool says. */
  readonly isInOrder?: boolean;
}

export interface CallPlan {
  /** All calls, for the ledger. */
  readonly calls: readonly NewCall[];
  readonly approvals: readonly NewApproval[];
  /** The calls that the loop runs. */
  readonly planned: readonly PlannedCall[];
  /** Model uses of hooks. */
  readonly uses: readonly ModelUse[];
}

type RequestedCall = ModelAnswer['calls'][number];

export async function planCalls(
  deps: PlanDeps,
  input: CallBasis,
  requests: readonly RequestedCall[],
  signal: AbortSignal,
): Promise<CallPlan> {
  const named = requests.map(({ args }) => args);
  const basis = { ...input, ...(await deps.knownAddresses(input, named)) };
  const until = guardsUntil();
  const plans: OnePlan[] = [];
  for (const [index, call] of requests.slice(0, MAX_CALLS).entries())
    plans.push(
      await planCall(deps, basis, call, index, (read) => deps.guards.ofCall(basis, read, { signal, until })),
    );
  const next = requests[MAX_CALLS];
  if (next) plans.push(notRun(deps, basis, next, requests.length));
  const plan = {
    calls: plans.map(({ call }) => call),
    approvals: plans.flatMap(({ approval }) => (approval ? [approval] : [])),
    planned: plans.flatMap(({ planned }) => (planned ? [planned] : [])),
    uses: plans.flatMap(({ uses = [] }) => uses),
  };
  return plan.approvals.length > 0 && (await deps.needsToken(basis.tenant)) ? withTokens(plan) : plan;
}

/** The first call beyond the limit, refused with a text for all of them. */
function notRun(deps: PlanDeps, basis: CallBasis, request: RequestedCall, total: number): OnePlan {
  const id = callIdOf(basis.turn, basis.step, MAX_CALLS);
  const rest = total - MAX_CALLS - 1;
  const all = rest > 0 ? `this one and the ${rest} after it have` : 'this one has';
  const message = `an answer may make ${MAX_CALLS} calls, and this one asked for ${total}: ${all} not run; ask for fewer at a time`;
  const read = basis.catalog.parse(request.name, request.args);
  const common = { id, index: MAX_CALLS, ...described(deps, basis, request, read, id) };
  return refused(deps, common, { code: 'RateLimited', message });
}

interface OnePlan {
  readonly call: NewCall;
  readonly approval?: NewApproval;
  readonly planned?: PlannedCall;
  readonly uses?: readonly ModelUse[];
}

/** A call that hooks have changed is judged again, as if the model had requested it. */
async function planCall(
  deps: PlanDeps,
  basis: CallBasis,
  request: RequestedCall,
  index: number,
  askHooks: (read: ParsedCall) => Promise<GuardOutcome | undefined>,
): Promise<OnePlan> {
  const first = judgeRequested(deps, basis, request, index);
  const hooked = 'call' in first ? undefined : await askHooks(first.read);
  if (!hooked) return 'call' in first ? first : planJudged(deps, basis, first);
  const { decision, reason = '', uses } = hooked;
  const changed = { ...request, args: hooked.input ?? request.args };
  const judged = judgeRequested(deps, basis, changed, index, hooked.ran);
  if ('call' in judged) return { ...judged, uses };
  if (decision === 'deny') return { ...refused(deps, judged.common, denied(reason)), uses };
  const { verdict } = judged;
  const asks = decision === 'ask' && verdict.verdict === 'allow';
  const always = { refused: 'a hook asks about each call' };
  const last = asks
    ? { ...judged, always, verdict: { ...verdict, verdict: 'ask' as const, reason } }
    : judged;
  return { ...(await planJudged(deps, basis, last)), uses };
}

/** A call that the rules do not deny. */
interface JudgedCall {
  readonly common: Common;
  readonly read: ParsedCall;
  readonly verdict: Exclude<Verdict, { readonly verdict: 'deny' }>;
  /** Set when it differs from what the rules would store. */
  readonly always?: AlwaysOffer;
}

function judgeRequested(
  deps: PlanDeps,
  basis: CallBasis,
  request: RequestedCall,
  index: number,
  hooks?: readonly HookRun[],
): JudgedCall | OnePlan {
  const id = callIdOf(basis.turn, basis.step, index);
  const read = request.invalid
    ? ({ ok: false, code: 'InvalidArgs', message: request.invalid } as const)
    : basis.catalog.parse(request.name, request.args);
  const common = { id, index, hooks, ...described(deps, basis, request, read, id) };
  if (!read.ok) return refused(deps, common, denialOfTool(deps.rules, basis, request.name) ?? read);
  const { tool, args } = read;
  const line = lineOf(tool.name, args);
  const problem = line && deps.guards.plannedCommand(basis.tenant, basis.agent.key, line);
  if (problem) return refused(deps, common, denied(problem));

  const verdict = deps.rules.judge({ ...basis, tool, args });
  if (verdict.verdict === 'deny') return refused(deps, common, denied(verdict.reason));
  return { common, read, verdict };
}

async function planJudged(
  deps: PlanDeps,
  basis: CallBasis,
  { common, read, verdict, always: offer }: JudgedCall,
): Promise<OnePlan> {
  const { id } = common;
  const { args } = read;
  const planned = plannedCall(deps, basis, id, read, basis.place);
  if (verdict.verdict === 'allow') return { call: { ...common, verdict: 'allow' }, planned };

  const approval_id = approvalIdOf(basis.tenant, id);
  const { tool, args: shown, custom_tool } = common;
  const sandbox = sandboxTerms(sandboxOf(deps.sandbox, basis.sandbox ?? undefined));
  const agent = { ...basis.agent, ...(basis.sandbox ? { sandbox: basis.sandbox } : {}) };
  const files = await deps.boundFiles({ ...basis, agent, tool: read.tool, args, scrubber: deps.scrubber });
  const digest = callDigest(tool, args, custom_tool, sandbox, files);
  // The reason may quote the call.
  const reason = storableText(deps.scrubber.text(verdict.reason));
  const { terms = {} } = verdict;
  const expires = terms.expires_seconds ?? deps.approvalSeconds;
  const until = Math.round(basis.requestedAt + expires * 1000);
  const always = offer ?? offerOf(deps, common, basis.place, terms, files, read.tool);
  return {
    call: { ...common, digest, verdict: 'ask', reason, approval_id },
    approval: {
      id: approval_id,
      call_id: id,
      user: basis.user,
      tool,
      args: shown,
      summary: common.summary,
      digest,
      reason,
      risk: verdict.risk,
      terms: { ...terms, ...runsOf(deps.wall, read.tool, basis.place) },
      expires,
      expires_at: new Date(until).toISOString(),
      always,
      sandbox,
      files,
    },
    planned: {
      ...planned,
      approval: plannedApproval(approval_id, expires, until, { digest, terms, always, files }),
    },
  };
}

/** What its row says about a call, whatever its outcome. */
function described(
  deps: PlanDeps,
  { catalog, tenant }: CallBasis,
  request: RequestedCall,
  read: ParsedCall | UnreadCall,
  id: string,
): Omit<Common, 'id' | 'index'> {
  const found = read.ok ? read.tool : catalog.find(request.name)?.tool;
  const definition = found?.definition;
  const tool = found?.name ?? nameOf(deps, request);
  const args = read.ok ? read.args : request.args;
  const shown = storableJson(deps.scrubber.args(args));
  const digest = callDigest(tool, args, definition);
  const differs = callDigest(tool, shown, definition) !== digest;
  return {
    tool,
    called_as: nameOf(deps, request),
    summary: read.ok ? callSummary(deps.scrubber, catalog, read) : tool,
    args: shown,
    sealed: differs ? deps.sealer.seal(JSON.stringify(args), sealedCall(tenant, id)) : undefined,
    digest,
    custom_tool: definition,
  };
}

/** The same plan; its questions require tokens. */
function withTokens(plan: CallPlan): CallPlan {
  return {
    ...plan,
    approvals: plan.approvals.map((one) => ({ ...one, terms: { ...one.terms, decision_token: true } })),
    planned: plan.planned.map((call) =>
      call.approval ? { ...call, approval: { ...call.approval, token: true } } : call,
    ),
  };
}

/** The same calls again, from their rows: the result of a repeated step. Finished calls do not run again. */
export function planRecorded(
  deps: PlannedDeps,
  step: Pick<CallBasis, 'tenant' | 'agent' | 'catalog' | 'isInOrder'>,
  calls: readonly RecordedCall[],
): PlannedCall[] {
  return calls.flatMap((call) => {
    if (call.state === 'done') return [];
    const read = step.catalog.parse(call.tool, realArgs(deps.sealer, step.tenant, call));
    // A tool that was removed or changed meanwhile: its activity records that the call cannot run.
    const unread = { id: call.id, tool: call.tool, summary: call.tool, timeout: HOST_EXEC_SECONDS };
    const planned = read.ok ? plannedCall(deps, step, call.id, read) : unread;
    if (call.approval === null) return [planned];
    const expires = call.expires ?? deps.approvalSeconds;
    const { approval, until, digest, terms, always = null, files } = call;
    const shown = { digest: digest ?? '', terms: terms ?? {}, always, files: files ?? [] };
    return [{ ...planned, approval: plannedApproval(approval, expires, until, shown) }];
  });
}

/** The arguments that the model requested, also when people see only a part. */
export function realArgs(sealer: Sealer, tenant: string, call: CallRow): Readonly<Record<string, unknown>> {
  if (!call.sealed) return call.args;
  return JSON.parse(sealer.open(call.sealed, sealedCall(tenant, call.id))) as Record<string, unknown>;
}

/** `place` is where a command would run now; unknown for calls that are planned from their rows. */
function plannedCall(
  deps: PlannedDeps,
  { agent, catalog, isInOrder }: Pick<CallBasis, 'agent' | 'catalog' | 'isInOrder'>,
  id: string,
  read: ParsedCall,
  place?: CommandPlace,
): PlannedCall {
  const { timeoutSeconds } = read.tool.limits;
  const timeout =
    typeof timeoutSeconds === 'number'
      ? timeoutSeconds
      : timeoutSeconds(read.input as never, { timeoutSeconds: longestExec(agent, deps.sandbox) });
  const call = {
    id,
    tool: read.tool.name,
    summary: callSummary(deps.scrubber, catalog, read),
    timeout,
    serial: (isInOrder ?? read.tool.serial) ? (true as const) : undefined,
  };
  return deps.engine.scheduled(call, read.tool, agent, place);
}

/** The default time limit of a command; where it will run is not known yet. */
function longestExec(agent: AgentConfig, sandbox: SandboxSettings): number {
  const standard = sandboxOf(sandbox, agent.sandbox) === undefined ? HOST_EXEC_SECONDS : BOX_EXEC_SECONDS;
  return agent.exec?.timeout_seconds ?? standard;
}

/** The model may have written anything in place of a tool's name. */
function nameOf(deps: Pick<PlanDeps, 'scrubber'>, request: RequestedCall): string {
  return storableText(deps.scrubber.text(request.name.slice(0, 4096)).slice(0, 128));
}

type Common = Omit<NewCall, 'verdict'>;

/** Its result is already known: the refusal, which the model reads (EX-4). */
function refused(deps: Pick<PlanDeps, 'scrubber'>, common: Common, why: Refusal): OnePlan {
  // The message may quote the model's text.
  const message = storableText(deps.scrubber.text(why.message));
  return {
    call: {
      ...common,
      verdict: 'deny',
      reason: message,
      state: 'done',
      ok: false,
      code: why.code,
      result: `${why.code}: ${message}`,
    },
  };
}

/** The place that the sealed arguments of a call are bound to. */
export function sealedCall(tenant: string, callId: string): string {
  return `${tenant}/tool_calls/${callId}`;
}
