/**
 * The one path round every tool (EX-3): claim with rate limit and approval, judge again, run, scrub, cut, record. A tool
 * is an activity type of its own; this is what each of them does.
 */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { ToolResult } from '#domain/tool.ts';
import type { RunToolInput, RunToolResult } from '#domain/turn.ts';
import { answerIdOf, isCallOf } from '#domain/ids.ts';
import { activityFailure } from '../activity-failure.ts';
import type { BudgetDesk } from '../budgets/budget-desk.ts';
import type { AskAhead } from '../turn/call-model.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { Claimed, EarlyStart } from '../fast-path/early-start.ts';
import { callKey, type HandOver, stepKey } from '../fast-path/hand-over.ts';
import { type FilesChanged, perform, type PerformDeps, shownResult } from './perform-tool.ts';
import type { TranscriptCache } from '../prompt/transcript-cache.ts';
import { newAsk, plannedAgain } from './ask-again.ts';
import { type ForAnyTenant, forTenant } from '#store/secrets/scrubber.ts';
import type { BudgetSettlement } from '#store/budget-ledger.ts';
import { isTransient } from '#store/pool.ts';
import type { Claim } from '#store/call-claim.ts';
import type { RecordedResult, TurnLedger } from '#store/turn-ledger.ts';
import {
  type Attempt,
  attemptNow,
  createTakeOver,
  type OwnQueue,
  STOPPED,
  type TakeOver,
} from '../fast-path/take-over.ts';
import { type Unrun, whyUnrun } from './why-unrun.ts';

export interface RunToolDeps extends PerformDeps {
  readonly ledger: TurnLedger;
  readonly handOver: HandOver;
  readonly transcripts: Pick<TranscriptCache, 'known'>;
  readonly rateLimit: { readonly perHour: number; readonly burst: number };
  readonly budgets: BudgetDesk;
  readonly ownQueue: OwnQueue;
  /** For which an approval waits unless its terms say otherwise. */
  readonly approvalSeconds: number;
  readonly askAhead: AskAhead;
  /** To which a tool that is begun soon adds its own. */
  readonly earlyStarts: Map<string, EarlyStart>;
}

export function createRunTool(
  parts: ForAnyTenant<RunToolDeps>,
  tool: Tool,
): (input: RunToolInput) => Promise<RunToolResult> {
  const work = async (input: RunToolInput, attempt: Attempt<RunToolInput>): Promise<RunToolResult> =>
    runTool(await forTenant<RunToolDeps>(parts, input.tenant), tool, input, attempt);
  const soon = tool.limits.soon
    ? createTakeOver<RunToolInput, RunToolResult>({
        keyOf: ({ tenant, call }) => callKey(tenant, call),
        work,
        patienceMs: () => PATIENCE_MS,
        most: parts.ownQueue.most,
      })
    : undefined;
  if (soon) parts.earlyStarts.set(tool.name, earlyStart(parts, tool, soon));
  const run = soon?.run ?? ((input: RunToolInput) => work(input, attemptNow(input)));
  return async (input) => {
    try {
      return (await run(input)) ?? { ok: false, continues: parts.ownQueue.name };
    } catch (error) {
      throw activityFailure(error);
    }
  };
}

/** Runs what was claimed with the answer that asks for it; the activity that follows finds it running. */
function earlyStart(
  parts: ForAnyTenant<RunToolDeps>,
  tool: Tool,
  { reserve, endAll }: TakeOver<RunToolInput, RunToolResult>,
): EarlyStart {
  return {
    reserve() {
      const place = reserve();
      return (
        place && {
          giveUp: place.giveUp,
          begin: (input, runId, claimed) =>
            place.begin(input, runId, async (_input, attempt) => {
              const deps = await forTenant<RunToolDeps>(parts, input.tenant);
              return runClaimed(deps, tool, input, claimed, attempt);
            }),
        }
      );
    },
    end: (tenant, turn) => endAll((input) => input.tenant === tenant && isCallOf(turn, input.call)),
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

/** Most commands that agents run only look, and are over by then. */
const PATIENCE_MS = 150;

async function runTool(
  deps: RunToolDeps,
  tool: Tool,
  input: RunToolInput,
  attempt: Attempt<RunToolInput>,
): Promise<RunToolResult> {
  // Not of the activity's id and attempt: a local activity that is run again has the same ones.
  const fence = randomUUID();
  const done = deps.handOver.results.take(callKey(input.tenant, input.call));
  if (done) return done.item;
  const handed = deps.handOver.calls.take(callKey(input.tenant, input.call));
  // Every call takes its token from the bucket, and the ledger has that.
  const claim: Claim =
    handed && deps.rateLimit.perHour === 0
      ? handed.item
      : await deps.ledger.claim(input.tenant, input.call, fence, {
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
  claimed: Claimed,
  attempt: Attempt<RunToolInput>,
): Promise<RunToolResult> {
  const started = performance.now();
  const done = await perform(deps, tool, input, claimed.running, attempt.signal);
  if ('changed' in done) return askAgain(deps, input, claimed, attempt, done);
  const result = isCutOff(done, attempt.signal) ? cutOff(tool, done) : done;
  return recordResult(deps, input, claimed, attempt, result, performance.now() - started);
}

type CutOff = Extract<ToolResult, { ok: false }>;

/** It was ended by the end of its worker, or since the server took that for dead: by nobody who wanted the call to end. */
function isCutOff(result: ToolResult, { aborted, reason }: AbortSignal): result is CutOff {
  if (!aborted || result.ok || result.code !== 'Cancelled') return false;
  return !(reason instanceof CancelledFailure && reason.message === STOPPED);
}

/** What may be run again is, where there is a worker. */
function cutOff(tool: Tool, result: CutOff): ToolResult {
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
  claimed: Claimed,
  attempt: Attempt<RunToolInput>,
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
  { running: claim, fence }: Claimed,
  attempt: Attempt<RunToolInput>,
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
      whole,
      child,
      events,
      // With nothing known the transcript is another worker's, and so will be its next step.
      known: known.position > 0 ? known : undefined,
      budget: {
        settle: claim.budgeted ? settlement(attempt.number, milliseconds) : undefined,
        next: deps.budgets.request(1, answerIdOf(claim.turn, claim.step + 1)),
      },
    }),
  );
  if (next) {
    const key = stepKey(input.tenant, claim.turn, claim.step + 1);
    const item = { basis: next, after: known.position, summaryAfter: known.summaryPosition };
    deps.handOver.steps.put(key, item, performance.now());
    // A child is started first.
    if (!child && attempt.awaitedBy()?.asks) {
      const { session, turn, step } = claim;
      const asked = { tenant: input.tenant, session, turn, step: step + 1, messages: [] };
      deps.askAhead(asked, attempt.runId);
    }
  }
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
