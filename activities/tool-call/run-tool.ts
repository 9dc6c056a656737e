/**
 * The common steps of every tool call (EX-3): claim with rate limit and approval, judge again, run, scrub, cut, record.
 * Each tool is an activity type of its own with these steps.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { cutText } from '#domain/text/cut-text.ts';
import type { ToolFailure, ToolResult } from '#domain/tool.ts';
import type { RunToolInput, RunToolResult } from '#domain/turn/turn-activities.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import { type Attempt, isStopped } from '../attempt.ts';
import type { NeedsToken } from '../approvals/needs-token.ts';
import type { StartGate } from '../start-gate.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import { policyToolOf } from '#policy/call-rules.ts';
import { replayOf, type Tool } from '#policy/define-tool.ts';
import { ANY_TOOL, type StepEngine } from '../turn/step-engine.ts';
import type { ClaimedCall, RunnableCall } from './claimed-call.ts';
import { perform, type PerformDeps } from './perform-tool.ts';
import { shownResult } from './shown-result.ts';
import { newAsk, plannedAgain } from './ask-again.ts';
import { createOutside, newForm, type OutsideDeps } from './call-outside.ts';
import { recordedWithin, untilRecorded } from './until-recorded.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import type { BudgetSettlement } from '#domain/budget/budget.ts';
import type { Claim } from '#store/turns/call-claim.ts';
import type { NewAsk, NewForm } from '#store/approvals/approval-questions.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { type Unrun, skipReason } from './skip-reason.ts';

export interface RunToolDeps extends PerformDeps {
  readonly ledger: TurnLedger;
  readonly engine: StepEngine;
  readonly rateLimit: { readonly perHour: number; readonly burst: number };
  readonly budgets: BudgetGuard;
  readonly models: OutsideDeps['models'];
  /** How long an approval waits unless its terms say otherwise. */
  readonly approvalSeconds: number;
  readonly needsToken: NeedsToken;
  readonly startGate: StartGate;
}

export function createRunTool(
  parts: ForAnyTenant<RunToolDeps>,
  tool: Tool,
): (input: RunToolInput) => Promise<RunToolResult> {
  const run = parts.engine.toolActivity(tool, async (input, attempt, claimed) => {
    const deps = await forTenant<RunToolDeps>(parts, input.tenant);
    const queue = await tool.elsewhere?.(deps.tools, input);
    if (queue !== undefined) return { ok: false, continues: queue };
    return claimed
      ? runClaimed(deps, tool, input, claimed, attempt)
      : claimAndRun(deps, tool, input, attempt);
  });
  return failingAs(activityFailure, run);
}

/**
 * The same for tools without their own activity type: `toolOf` finds the one that a call was planned with. An unknown
 * activity type is retried, until a newer worker that has it runs it.
 */
export function createRunCustomTool(
  parts: ForAnyTenant<RunToolDeps>,
  toolOf: (input: RunToolInput, name: string) => Promise<Tool | undefined>,
): (input: RunToolInput) => Promise<RunToolResult> {
  const run = parts.engine.toolActivity(ANY_TOOL, async (input, attempt, claimed) => {
    // A call that started with its answer's record has no activity yet.
    const name = claimed?.running.tool ?? Context.current().info.activityType;
    const tool = await toolOf(input, name);
    if (!tool) throw ApplicationFailure.retryable(`this worker has no activity ${name}`, 'NotFoundError');
    const deps = await forTenant<RunToolDeps>(parts, input.tenant);
    return claimed
      ? runClaimed(deps, tool, input, claimed, attempt)
      : claimAndRun(deps, tool, input, attempt);
  });
  return failingAs(activityFailure, run);
}

async function claimAndRun(
  deps: RunToolDeps,
  tool: Tool,
  input: RunToolInput,
  attempt: Attempt,
): Promise<RunToolResult> {
  const known = deps.engine.knownResult(input);
  if (known) return known;
  const { tenant, call, stopped } = input;
  const work = { tenant, of: { call }, tool: policyToolOf(tool) };
  if (!stopped && isInTask(tool)) {
    if (!(await deps.startGate.isOpen(work))) return { ok: false, held: true };
  } else if (!stopped) await deps.startGate.pass(work, attempt);
  // Not derived from the activity's id and attempt, because a local activity that runs again has the same ones.
  const fence = randomUUID();
  const claimAs = (once: boolean): Promise<Claim> =>
    deps.ledger.claim(input.tenant, input.call, fence, {
      once,
      // A call of an MCP server may leave state there, which its row contains.
      reads: tool.replay === 'readonly' && !tool.mcp,
      ...deps.rateLimit,
      budget: tool.limits.costly ? deps.budgets.request(attempt.number) : undefined,
    });
  const first = await claimAs(tool.replay === 'once');
  const isRead = first.kind === 'lost' && replayOf(tool, first.args) === 'readonly';
  const claim = isRead ? await claimAs(false) : first;
  if (claim.kind === 'missing') return { ok: false, code: 'NotFound' };
  if (claim.kind === 'done') {
    const { ok, code, child } = claim;
    return { ok: ok ?? false, code: code || undefined, child: child || undefined };
  }
  if (claim.kind === 'asked') return { ok: false, approval: plannedAgain(claim) };
  if (claim.kind !== 'run') return settleUnrun(deps, input, claim);
  return runClaimed(deps, tool, input, { running: claim, fence }, attempt);
}

async function runClaimed(
  deps: RunToolDeps,
  tool: Tool,
  input: RunToolInput,
  claimed: ClaimedCall,
  attempt: Attempt,
): Promise<RunToolResult> {
  const started = performance.now();
  const outside = mayWait(tool) ? createOutside(deps, input, claimed, attempt) : undefined;
  const done = await perform(deps, tool, input, claimed.running, attempt.signal, outside);
  const milliseconds = performance.now() - started;
  if ('changed' in done)
    return askAgain(deps, input, claimed, attempt, newAsk(claimed.running, done, deps.approvalSeconds), 0);
  if (done.ok && done.pending) {
    if ('later' in done.pending) return { ok: false, later: done.pending.later };
    const ask = await newForm(deps, input, claimed.running, done.pending);
    const request = await askAgain(deps, input, claimed, attempt, ask, milliseconds);
    return done.pending.left.isHeld ? { ...request, continues: deps.engine.queue } : request;
  }
  // Its task continues, or the model is called again, so the next attempt also continues.
  if (isCutOff(done, attempt.signal) && (outside?.left?.task !== undefined || outside?.isSampling))
    throw stillRuns();
  const result = isCutOff(done, attempt.signal) ? cutOff(tool, claimed.running, done) : done;
  return recordResult(deps, input, claimed, attempt, result, milliseconds);
}

/** It runs whole within the workflow task, which must not wait. */
function isInTask({ limits }: Tool): boolean {
  return limits.duration === 'short' && Context.current().info.isLocal;
}

/** Its calls may wait for something outside, or for its user. */
function mayWait({ mcp, mayContinueOutside, mayNeedLogin }: Tool): boolean {
  return [mcp, mayContinueOutside, mayNeedLogin].some(Boolean);
}

function stillRuns(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'StillRuns',
    message: 'what it has at its MCP server is not over',
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** The end of its worker ended it, or the server believed the worker dead: nobody wanted the call to end. */
function isCutOff(result: ToolResult, signal: AbortSignal): result is ToolFailure {
  return signal.aborted && !isStopped(signal) && !result.ok && result.code === 'Cancelled';
}

/** A call that may run again is retried on another worker. */
function cutOff(tool: Tool, { args }: RunnableCall, result: ToolFailure): ToolResult {
  if (replayOf(tool, args) !== 'once')
    throw ApplicationFailure.retryable(
      `${tool.name} was cut off: its worker ended or was lost`,
      'Unavailable',
    );
  const message = `${result.message}\n[the worker that ran it ended or was lost; nobody stopped the call]`;
  return { ...result, code: 'OutcomeUnknown', message };
}

/** Releases the claim; the loop waits for the new approval. */
async function askAgain(
  deps: RunToolDeps,
  input: RunToolInput,
  claimed: ClaimedCall,
  attempt: Attempt,
  ask: NewAsk | NewForm | ToolResult,
  milliseconds: number,
): Promise<RunToolResult> {
  const { running, fence } = claimed;
  if ('ok' in ask) return recordResult(deps, input, claimed, attempt, ask, milliseconds);
  const settle = running.budgeted ? settlement(attempt.number, milliseconds) : undefined;
  const again = await untilRecorded(() =>
    deps.ledger.askAgain(input.tenant, running.session, input.call, fence, ask, settle),
  );
  return again ? { ok: false, approval: plannedAgain(again) } : { ok: false, code: 'Cancelled' };
}

async function recordResult(
  deps: RunToolDeps,
  input: RunToolInput,
  { running: claim, fence }: ClaimedCall,
  attempt: Attempt,
  result: ToolResult,
  milliseconds: number,
): Promise<RunToolResult> {
  const { outcome, child, code, text, whole, images, read, changedFiles, events } = shownResult(
    deps,
    input.call,
    claim,
    result,
    milliseconds,
  );
  // The child's result will be the call's result; until then the call stays open.
  if (child?.wait) return outcome;

  const query = deps.engine.nextStepQuery(input.tenant, claim);
  const record = () =>
    deps.ledger.recordResult({
      tenant: input.tenant,
      session: claim.session,
      call: input.call,
      fence,
      ok: result.ok,
      code,
      text,
      whole,
      images,
      read,
      changedFiles,
      child,
      events,
      known: query?.known,
      budget: {
        settle: claim.budgeted ? settlement(attempt.number, milliseconds) : undefined,
        next: query?.budget,
      },
    });
  // A child's start and images are not in an activity's answer.
  const recorded = await (child || images
    ? untilRecorded(record)
    : recordedWithin(RECORD_MS, record, attempt.signal));
  if (!recorded)
    return {
      ...outcome,
      unrecorded: cutText(text, UNRECORDED_BYTES, 'no place, since its record failed').text,
    };
  const { next } = recorded;
  if (next && query) deps.engine.keepNextStep(input.tenant, claim, query.known, next);
  return outcome;
}

/**
 * Much less than an attempt's time beyond its tool's own (workflows/activity-options.ts); after that the loop records
 * the outcome.
 */
const RECORD_MS = 10_000;
/**
 * Size of a result that goes through history: all results of a step together stay far below Temporal's limit (2 MB).
 */
const UNRECORDED_BYTES = 8_192;

/** The use of a costly call; its costs at a service are unknown. */
function settlement(attempt: number, milliseconds: number): BudgetSettlement {
  return { attempt, spent: { tokens: 0, usd: 0, seconds: milliseconds / 1000, calls: 1 } };
}

/** The call does not run; its result is the reason. */
async function settleUnrun(deps: RunToolDeps, input: RunToolInput, claim: Unrun): Promise<RunToolResult> {
  const { code, message } = skipReason(claim, deps.rateLimit.perHour);
  const key = { tenant: input.tenant, session: claim.session, turn: claim.turn };
  await deps.ledger.settle(key, [{ id: input.call, ok: false, code, text: `${code}: ${message}` }]);
  return { ok: false, code };
}
