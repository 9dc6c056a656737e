/**
 * The one path round every tool (EX-3): claim with rate limit and approval, judge again, run, scrub, cut, record. A tool
 * is an activity type of its own; this is what each of them does.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { ToolFailure, ToolResult } from '#domain/tool.ts';
import type { RunToolInput, RunToolResult } from '#domain/turn.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import { type Attempt, STOPPED } from '../attempt.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { ClaimedCall, FastPath } from '../fast-path/fast-path.ts';
import { type FilesChanged, perform, type PerformDeps, shownResult } from './perform-tool.ts';
import { newAsk, plannedAgain } from './ask-again.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import type { BudgetSettlement } from '#store/budget-ledger.ts';
import { isTransient } from '#store/pool.ts';
import type { RecordedResult, TurnLedger } from '#store/turn-ledger.ts';
import { type Unrun, whyUnrun } from './why-unrun.ts';

export interface RunToolDeps extends PerformDeps {
  readonly ledger: TurnLedger;
  readonly fastPath: FastPath;
  readonly rateLimit: { readonly perHour: number; readonly burst: number };
  readonly budgets: BudgetGuard;
  /** For which an approval waits unless its terms say otherwise. */
  readonly approvalSeconds: number;
}

export function createRunTool(
  parts: ForAnyTenant<RunToolDeps>,
  tool: Tool,
): (input: RunToolInput) => Promise<RunToolResult> {
  const run = parts.fastPath.toolActivity(tool, async (input, attempt, claimed) => {
    const deps = await forTenant<RunToolDeps>(parts, input.tenant);
    return claimed
      ? runClaimed(deps, tool, input, claimed, attempt)
      : claimAndRun(deps, tool, input, attempt);
  });
  return failingAs(activityFailure, run);
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

async function claimAndRun(
  deps: RunToolDeps,
  tool: Tool,
  input: RunToolInput,
  attempt: Attempt,
): Promise<RunToolResult> {
  const kept = deps.fastPath.claimOf(input);
  if (kept && 'result' in kept) return kept.result;
  // Not of the activity's id and attempt: a local activity that is run again has the same ones.
  const fence = randomUUID();
  if (kept) return runClaimed(deps, tool, input, { running: kept.run, fence }, attempt);
  const claim = await deps.ledger.claim(input.tenant, input.call, fence, {
    once: tool.replay === 'once',
    reads: tool.replay === 'readonly',
    ...deps.rateLimit,
    budget: tool.limits.costly ? deps.budgets.request(attempt.number) : undefined,
  });
  if (claim.kind === 'missing') return { ok: false, code: 'NotFound' };
  if (claim.kind === 'done') {
    const { ok, code, child } = claim;
    return { ok: ok ?? false, code: code || undefined, child: child || undefined };
  }
  if (claim.kind === 'asked') return { ok: false, asked: plannedAgain(claim) };
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
  const done = await perform(deps, tool, input, claimed.running, attempt.signal);
  if ('changed' in done) return askAgain(deps, input, claimed, attempt, done);
  const result = isCutOff(done, attempt.signal) ? cutOff(tool, done) : done;
  return recordResult(deps, input, claimed, attempt, result, performance.now() - started);
}

/** It was ended by the end of its worker, or since the server took that for dead: by nobody who wanted the call to end. */
function isCutOff(result: ToolResult, { aborted, reason }: AbortSignal): result is ToolFailure {
  if (!aborted || result.ok || result.code !== 'Cancelled') return false;
  return !(reason instanceof CancelledFailure && reason.message === STOPPED);
}

/** What may be run again is, where there is a worker. */
function cutOff(tool: Tool, result: ToolFailure): ToolResult {
  if (tool.replay !== 'once')
    throw ApplicationFailure.retryable(
      `${tool.name} was cut off: its worker ended or was lost`,
      'Unavailable',
    );
  const message = `${result.message}\n[the worker that ran it ended or was lost; nobody stopped the call]`;
  return { ...result, code: 'OutcomeUnknown', message };
}

/** The claim is given back, and the loop waits for the new approval. */
async function askAgain(
  deps: RunToolDeps,
  input: RunToolInput,
  claimed: ClaimedCall,
  attempt: Attempt,
  changed: FilesChanged,
): Promise<RunToolResult> {
  const { running, fence } = claimed;
  const ask = newAsk(running, changed, deps.approvalSeconds);
  if ('ok' in ask) return recordResult(deps, input, claimed, attempt, ask, 0);
  const settle = running.budgeted ? settlement(attempt.number, 0) : undefined;
  const asked = await deps.ledger.askAgain(input.tenant, running.session, input.call, fence, ask, settle);
  return asked ? { ok: false, asked: plannedAgain(asked) } : { ok: false, code: 'Cancelled' };
}

async function recordResult(
  deps: RunToolDeps,
  input: RunToolInput,
  { running: claim, fence }: ClaimedCall,
  attempt: Attempt,
  result: ToolResult,
  milliseconds: number,
): Promise<RunToolResult> {
  const { outcome, child, code, text, whole, events } = shownResult(
    deps,
    input.call,
    claim,
    result,
    milliseconds,
  );
  // Its result is what the child will say; until then the call stays open.
  if (child?.wait) return outcome;

  const reads = deps.fastPath.readsWith(input.tenant, claim);
  const { next } = await untilRecorded(() =>
    deps.ledger.recordResult({
      tenant: input.tenant,
      session: claim.session,
      call: input.call,
      fence,
      ok: result.ok,
      code,
      text,
      whole,
      child,
      events,
      known: reads?.known,
      budget: {
        settle: claim.budgeted ? settlement(attempt.number, milliseconds) : undefined,
        next: reads?.budget,
      },
    }),
  );
  if (next && reads) deps.fastPath.keep(input.tenant, claim, reads.known, next);
  return outcome;
}

/** What a costly call has used; what it pays outside is not known to us. */
function settlement(attempt: number, milliseconds: number): BudgetSettlement {
  return { attempt, spent: { tokens: 0, usd: 0, seconds: milliseconds / 1000, calls: 1 } };
}

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
