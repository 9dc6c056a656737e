/** Loads a step: takes its messages and reads its basis. */
import { Failure } from '#domain/errors.ts';
import { answerIdOf } from '#domain/ids.ts';
import { agentOfTurn } from '#domain/assignment/subagent-agent.ts';
import type { CallModelInput, CallModelResult } from '#domain/turn/turn-activities.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import { withClientTools } from '#policy/client-tools.ts';
import { hideTexts, type Scrubber } from '#store/secrets/scrubber.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import type { Attempt } from '../attempt.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import { type KnownTranscript, NOTHING_KNOWN, type TranscriptCache } from '../prompt/transcript-cache.ts';
import { hasStandIns } from '#domain/turn/stand-ins.ts';
import type { StandIns } from '../stand-ins.ts';
import type { LoadedStep, ReadBasis } from './step.ts';
import type { StepEngine } from './step-engine.ts';

export interface LoadDeps {
  readonly ledger: Pick<TurnLedger, 'beginStep'>;
  readonly transcripts: Pick<TranscriptCache, 'known'>;
  readonly engine: Pick<StepEngine, 'knownBasis'>;
  readonly catalogs: AgentCatalogs;
  readonly budgets: Pick<BudgetGuard, 'request'>;
  readonly scrubber: Scrubber;
  readonly standIns: StandIns;
  readonly defaultAgent: string;
}

export async function loadStep(
  deps: LoadDeps,
  input: CallModelInput,
  attempt: Attempt,
): Promise<LoadedStep | Extract<CallModelResult, { kind: 'duplicate' }>> {
  let known = deps.transcripts.known(input.tenant, input.session);
  let basis = deps.engine.knownBasis(input, attempt, known) ?? (await beginStep(deps, input, attempt, known));
  // The rows in this worker's memory belong to a session that was forgotten.
  if (!basis.duplicate && known.since !== undefined && known.since !== basis.since) {
    known = NOTHING_KNOWN;
    basis = await beginStep(deps, input, attempt, known);
  }
  if (basis.duplicate) return { kind: 'duplicate', ended: basis.ended ?? undefined };
  if (!basis.agent)
    throw new Failure('NotFound', `agent ${basis.agent_key} does not exist; create it or name another`);
  const inForce = { agent: basis.agent, tenant_policy: basis.tenant_policy };
  const decides = hasStandIns(basis.context)
    ? await deps.standIns.decidedBy({ ...input, context: basis.context }, inForce)
    : inForce;
  const agent = agentOfTurn(decides.agent, basis.context);
  const ofAgent = await deps.catalogs.of(input.tenant, agent.key, basis.tools_version);
  const catalog = withClientTools(ofAgent, basis.context);
  return { ...basis, ...input, ...decides, agent, catalog, attempt, knownUpTo: known.position };
}

async function beginStep(
  deps: LoadDeps,
  input: CallModelInput,
  attempt: Attempt,
  known: KnownTranscript,
): Promise<ReadBasis> {
  const { tenant, session, turn, step, messages, settle = [] } = input;
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
