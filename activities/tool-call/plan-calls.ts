/** From what a model asked for to what the loop will do: each call is looked up, read, judged and written down. */
import type { AgentConfig } from '#domain/agent.ts';
import { type AlwaysOffer, alwaysWords } from '#domain/approval.ts';
import type { ApprovalTerms } from '#domain/approval-terms.ts';
import { type BoundFile, boundFilesWords } from '#domain/bound-file.ts';
import { approvalIdOf, callIdOf } from '#domain/ids.ts';
import type { ModelAnswer } from '#domain/model.ts';
import {
  BOX_EXEC_SECONDS,
  HOST_EXEC_SECONDS,
  type SandboxSettings,
  sandboxOf,
  sandboxTerms,
  type Wall,
} from '#domain/sandbox.ts';
import type { CommandPlace } from '#domain/shell/allowlist.ts';
import { storableJson, storableText } from '#domain/storable-text.ts';
import type { PlannedCall } from '#domain/turn.ts';
import type { CallDeps } from './call-deps.ts';
import type { NeedsToken } from '../approvals/needs-token.ts';
import { runsOf } from './runs-at.ts';
import { callDigest } from './call-digest.ts';
import { type RuleScope, EXEC } from '#policy/call-rules.ts';
import type { Catalog, ParsedCall, UnreadCall } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import { commandOf } from '#policy/exec-rules.ts';
import type { NewApproval, NewCall } from '#store/answer-record.ts';
import type { CallRow, RecordedCall } from '#store/turn-ledger.ts';
import type { Sealer } from '#store/seal.ts';

/** More calls in one answer than any model means to make. */
const MAX_CALLS = 64;

export interface PlanDeps extends CallDeps {
  /** Why the command must not run as a plain one (SH-4), as far as is known by now; asked again when it runs. */
  readonly whySecured: (tenant: string, agent: string, command: string) => string | undefined;
  readonly catalog: Catalog;
  readonly approvalSeconds: number;
  /** Whether a call may begin within the workflow task. */
  readonly isInline: (tool: Tool, place: CommandPlace | undefined) => boolean;
  readonly needsToken: NeedsToken;
  /** Around commands on this machine. */
  readonly wall: Wall;
}

export interface CallBasis extends RuleScope {
  readonly tenant: string;
  readonly turn: string;
  readonly step: number;
  readonly user: string | null;
  /** The database's clock: milliseconds since 1970. */
  readonly askedAt: number;
  readonly allowlist: readonly { readonly tool: string; readonly pattern: string }[];
  /** Of the agent as it is now: where its calls run, whichever revision of it the turn has. */
  readonly sandbox: AgentConfig['sandbox'] | null;
  /** Where a command would run. */
  readonly place: CommandPlace;
}

export interface CallPlan {
  /** All of them, for the ledger. */
  readonly calls: readonly NewCall[];
  readonly approvals: readonly NewApproval[];
  /** Those the loop runs. */
  readonly planned: readonly PlannedCall[];
}

type AskedCall = ModelAnswer['calls'][number];

export async function planCalls(
  deps: PlanDeps,
  basis: CallBasis,
  asked: readonly AskedCall[],
): Promise<CallPlan> {
  const plans: OnePlan[] = [];
  for (const [index, call] of asked.slice(0, MAX_CALLS).entries())
    plans.push(await planCall(deps, basis, call, index));
  const next = asked[MAX_CALLS];
  if (next) plans.push(notRun(deps, basis, next, asked.length));
  const plan = {
    calls: plans.map(({ call }) => call),
    approvals: plans.flatMap(({ approval }) => (approval ? [approval] : [])),
    planned: plans.flatMap(({ planned }) => (planned ? [planned] : [])),
  };
  return plan.approvals.length > 0 && (await deps.needsToken(basis.tenant)) ? withTokens(plan) : plan;
}

/** The first of those that are too many, refused with words for all of them. */
function notRun(deps: PlanDeps, basis: CallBasis, asked: AskedCall, total: number): OnePlan {
  const id = callIdOf(basis.turn, basis.step, MAX_CALLS);
  const rest = total - MAX_CALLS - 1;
  const all = rest > 0 ? `this one and the ${rest} after it have` : 'this one has';
  const message = `an answer may make ${MAX_CALLS} calls, and this one asked for ${total}: ${all} not run; ask for fewer at a time`;
  const read = deps.catalog.parse(asked.name, asked.args);
  const common = { id, index: MAX_CALLS, ...described(deps, asked, read, sealedCall(basis.tenant, id)) };
  return refused(deps, common, 'RateLimited', message);
}

interface OnePlan {
  readonly call: NewCall;
  readonly approval?: NewApproval;
  readonly planned?: PlannedCall;
}

async function planCall(deps: PlanDeps, basis: CallBasis, asked: AskedCall, index: number): Promise<OnePlan> {
  const id = callIdOf(basis.turn, basis.step, index);
  const read = asked.invalid
    ? ({ ok: false, code: 'InvalidArgs', message: asked.invalid } as const)
    : deps.catalog.parse(asked.name, asked.args);
  const args = read.ok ? read.args : asked.args;
  const common = { id, index, ...described(deps, asked, read, sealedCall(basis.tenant, id)) };
  if (!read.ok) return refused(deps, common, read.code, read.message);

  const secured =
    read.tool.name === EXEC ? deps.whySecured(basis.tenant, basis.agent.key, commandOf(args)) : undefined;
  if (secured !== undefined) return refused(deps, common, 'PermissionDenied', secured);

  const verdict = deps.rules.judge({ ...basis, tool: read.tool, args });
  if (verdict.verdict === 'deny') return refused(deps, common, 'PermissionDenied', verdict.reason);

  const planned = plannedCall(deps, id, read, basis.agent, basis.place);
  if (verdict.verdict === 'allow') return { call: { ...common, verdict: 'allow' }, planned };

  const approval_id = approvalIdOf(basis.tenant, id);
  const { tool, args: shown, custom_tool } = common;
  const sandbox = sandboxTerms(sandboxOf(deps.sandbox, basis.sandbox ?? undefined));
  const agent = { ...basis.agent, ...(basis.sandbox ? { sandbox: basis.sandbox } : {}) };
  const files = await deps.boundFiles({ ...basis, agent, tool: read.tool, args, scrubber: deps.scrubber });
  const digest = callDigest(tool, args, custom_tool, sandbox, files);
  // It may quote the call.
  const reason = storableText(deps.scrubber.text(verdict.reason));
  const { terms = {} } = verdict;
  const expires = terms.expires_seconds ?? deps.approvalSeconds;
  const until = Math.round(basis.askedAt + expires * 1000);
  const always = offerOf(deps, common, basis.place, terms, files);
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
    planned: { ...planned, approval: plannedApproval(approval_id, expires, until, { terms, always, files }) },
  };
}

/** What is allowed always is asked about no more, so that nobody would look at them again. */
export const RUNS_FILES = 'it runs files of the workspace, which may be others the next time';

/** What people are shown is what is stored, so nothing that they see only in part. */
function offerOf(
  { rules }: PlanDeps,
  { tool, args, sealed, custom_tool }: Common,
  place: CommandPlace,
  { quorum }: ApprovalTerms,
  files: readonly BoundFile[],
): AlwaysOffer {
  if (sealed !== undefined) return { refused: 'it holds a secret' };
  if (files.length > 0) return { refused: RUNS_FILES };
  return rules.alwaysOffer({
    tool,
    args,
    place,
    quorum,
    definition: custom_tool,
  });
}

/** What its row says of a call, whatever comes of it. */
function described(
  deps: PlanDeps,
  asked: AskedCall,
  read: ParsedCall | UnreadCall,
  boundTo: string,
): Omit<Common, 'id' | 'index'> {
  const found = read.ok ? read.tool : deps.catalog.find(asked.name)?.tool;
  const definition = found?.definition;
  const tool = found?.name ?? nameOf(deps, asked);
  const args = read.ok ? read.args : asked.args;
  const shown = storableJson(deps.scrubber.args(args));
  const digest = callDigest(tool, args, definition);
  const differs = callDigest(tool, shown, definition) !== digest;
  return {
    tool,
    asked_as: nameOf(deps, asked),
    summary: read.ok ? callSummary(deps, read.tool, read.input) : tool,
    args: shown,
    sealed: differs ? deps.sealer.seal(JSON.stringify(args), boundTo) : undefined,
    digest,
    custom_tool: definition,
  };
}

/** Characters of files in the web UI; the API has all. */
const FILES_SHOWN = 2_000;

interface ShownTerms {
  readonly terms: ApprovalTerms;
  readonly always: AlwaysOffer | null;
  readonly files: readonly BoundFile[];
}

/** What the approval's workflow must know of its terms; who may decide is looked up when somebody does. */
export function plannedApproval(
  id: string,
  expires: number,
  until: number | null,
  { terms, always, files }: ShownTerms,
): NonNullable<PlannedCall['approval']> {
  const { quorum = 1, escalate, remind_seconds, decision_token } = terms;
  const words = boundFilesWords(files);
  return {
    id,
    expires,
    until: until ?? undefined,
    quorum: quorum > 1 ? quorum : undefined,
    escalate: escalate?.after_seconds,
    remind: remind_seconds,
    always: always === null ? undefined : alwaysWords(always),
    files: words?.slice(0, FILES_SHOWN),
    token: decision_token,
  };
}

/** The same plan with what it asks to be decided with tokens. */
function withTokens(plan: CallPlan): CallPlan {
  return {
    ...plan,
    approvals: plan.approvals.map((one) => ({ ...one, terms: { ...one.terms, decision_token: true } })),
    planned: plan.planned.map((call) =>
      call.approval ? { ...call, approval: { ...call.approval, token: true } } : call,
    ),
  };
}

/** The same calls again, from their rows: what a repeated step returns. Those that are done are not run again. */
export function planRecorded(
  deps: PlanDeps,
  tenant: string,
  agent: AgentConfig,
  calls: readonly RecordedCall[],
): PlannedCall[] {
  return calls.flatMap((call) => {
    if (call.state === 'done') return [];
    const read = deps.catalog.parse(call.tool, realArgs(deps.sealer, tenant, call));
    // A tool that went or changed meanwhile: its activity writes down that the call cannot run.
    const unread = { id: call.id, tool: call.tool, summary: call.tool, timeout: HOST_EXEC_SECONDS };
    const planned = read.ok ? plannedCall(deps, call.id, read, agent) : unread;
    if (call.approval === null) return [planned];
    const expires = call.expires ?? deps.approvalSeconds;
    const { approval, until, terms, always = null, files } = call;
    const shown = { terms: terms ?? {}, always, files: files ?? [] };
    return [{ ...planned, approval: plannedApproval(approval, expires, until, shown) }];
  });
}

/** What the model asked for, also where people see less of it. */
export function realArgs(sealer: Sealer, tenant: string, call: CallRow): Readonly<Record<string, unknown>> {
  if (!call.sealed) return call.args;
  return JSON.parse(sealer.open(call.sealed, sealedCall(tenant, call.id))) as Record<string, unknown>;
}

/** `place` is where a command would run now; unknown for calls that are planned from their rows. */
function plannedCall(
  deps: PlanDeps,
  id: string,
  read: ParsedCall,
  agent: AgentConfig,
  place?: CommandPlace,
): PlannedCall {
  const { timeoutSeconds, duration } = read.tool.limits;
  const timeout =
    typeof timeoutSeconds === 'number'
      ? timeoutSeconds
      : timeoutSeconds(read.input as never, { timeoutSeconds: longestExec(agent, deps.sandbox) });
  return {
    id,
    tool: read.tool.name,
    summary: callSummary(deps, read.tool, read.input),
    timeout,
    local: duration === 'short' ? (true as const) : undefined,
    inline: deps.isInline(read.tool, place) ? (true as const) : undefined,
    serial: read.tool.serial ? (true as const) : undefined,
  };
}

/** What a command may take when the model does not say; where it will run is not known yet. */
function longestExec(agent: AgentConfig, sandbox: SandboxSettings): number {
  const standard = sandboxOf(sandbox, agent.sandbox) === undefined ? HOST_EXEC_SECONDS : BOX_EXEC_SECONDS;
  return agent.exec?.timeout_seconds ?? standard;
}

/** Characters: one line in the web UI. */
const SUMMARY = 120;

/** `exec: npm test`, the line that people see of a call everywhere. */
export function callSummary(
  deps: Pick<PlanDeps, 'catalog' | 'scrubber'>,
  tool: Tool,
  input: unknown,
): string {
  const words = storableText(deps.catalog.summaryOf(tool, input));
  return deps.scrubber.preview(words === '' ? tool.name : `${tool.name}: ${words}`, SUMMARY);
}

/** What the model wrote in place of a tool's name may be anything. */
function nameOf(deps: Pick<PlanDeps, 'scrubber'>, asked: AskedCall): string {
  return storableText(deps.scrubber.text(asked.name.slice(0, 4096)).slice(0, 128));
}

type Common = Omit<NewCall, 'verdict'>;

/** Its result is known already: the refusal, for the model to read (EX-4). */
function refused(deps: Pick<PlanDeps, 'scrubber'>, common: Common, code: string, words: string): OnePlan {
  // It may quote what the model wrote.
  const message = storableText(deps.scrubber.text(words));
  return {
    call: {
      ...common,
      verdict: 'deny',
      reason: message,
      state: 'done',
      ok: false,
      code,
      result: `${code}: ${message}`,
    },
  };
}

/** What the sealed arguments of a call are bound to. */
export function sealedCall(tenant: string, callId: string): string {
  return `${tenant}/tool_calls/${callId}`;
}
