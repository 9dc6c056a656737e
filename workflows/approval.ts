/**
 * One request for a person's decision, from asking to decision, expiry or withdrawal (AP-1 … AP-6). It outlives the
 * worker, the API and the browser; the first valid decision wins, whichever way it comes.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  currentUpdateInfo,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  log,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import {
  APPROVAL,
  type ApprovalActivities,
  type ApprovalInput,
  type ApprovalState,
  type DecideInput,
  type DecisionReceipt,
  decisionProblem,
  readDecision,
  type SettleApprovalInput,
  type SettleApprovalResult,
} from '#domain/approval.ts';
import { markdownCode, markdownText } from '#domain/markdown.ts';
import { RECORD } from './activity-options.ts';
import { oneAtATime } from './steps/one-at-a-time.ts';

const decideUpdate = defineUpdate<DecisionReceipt, [DecideInput]>(APPROVAL.updates.decide);
const decideSignal = defineSignal<[DecideInput]>(APPROVAL.signals.decide);
const withdrawSignal = defineSignal(APPROVAL.signals.withdraw);
const stateQuery = defineQuery<ApprovalState>(APPROVAL.queries.state);

type Settled = Extract<SettleApprovalResult, { kind: 'settled' }>;

export async function approval(input: ApprovalInput): Promise<Settled> {
  const { settle_approval } = proxyLocalActivities<ApprovalActivities>(RECORD);
  const deadline = input.until ?? Date.now() + input.expires * 1000;
  const end: { result?: Settled } = {};
  const inTurn = oneAtATime();
  let withdrawn = false;
  let refused = 0;

  /** A later decision waits until the earlier one has been recorded or refused. */
  const settle = (
    outcome: SettleApprovalInput['outcome'],
    key: string,
    decision?: DecideInput,
  ): Promise<SettleApprovalResult> =>
    inTurn(async () => {
      // A workflow task that was lost may have settled it for a request that now comes second.
      if (end.result) return { ...end.result, won: end.result.key === key };
      const late = outcome === 'decided' && Date.now() >= deadline;
      const result = await settle_approval({
        tenant: input.tenant,
        approval_id: input.approval_id,
        outcome: late ? 'expired' : outcome,
        key,
        ...(decision && !late ? { decision } : {}),
      });
      if (result.kind === 'settled') end.result = result;
      return result.kind === 'settled' && late ? { ...result, won: false } : result;
    });

  async function decide(given: DecideInput): Promise<DecisionReceipt> {
    const decision = readDecision(given.decision) ?? given.decision;
    const key = currentUpdateInfo()?.id ?? uuid4();
    const result = await CancellationScope.nonCancellable(() =>
      settle('decided', key, { ...given, decision }),
    );
    if (result.kind === 'refused') {
      refused += 1;
      throw ApplicationFailure.nonRetryable(result.message, result.type);
    }
    const receipt = {
      approval_id: input.approval_id,
      status: result.status,
      decision: result.decision ?? decision,
      decided_by: result.by,
      decided_at: result.at,
    };
    if (result.won) return receipt;
    if (result.decision === decision) return { ...receipt, already: true };
    refused += 1;
    throw lateDecision(input.approval_id, result);
  }

  setHandler(decideUpdate, decide, {
    validator: (given) => {
      const problem = decisionProblem(given);
      if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
    },
  });
  setHandler(decideSignal, async (given) => {
    // A signal cannot be answered: what is wrong with it is counted in the state and logged.
    const problem = decisionProblem(given);
    if (problem) {
      refused += 1;
      log.warn('decision refused', { approval_id: input.approval_id, problem });
      return;
    }
    await decide(given).catch((error: unknown) => {
      if (!(error instanceof ApplicationFailure)) throw error;
      log.warn('decision refused', { approval_id: input.approval_id, problem: error.message });
    });
  });
  setHandler(withdrawSignal, () => {
    withdrawn = true;
  });
  setHandler(stateQuery, () => ({
    approval_id: input.approval_id,
    status: end.result?.status ?? 'pending',
    decision: end.result?.decision ?? null,
    decided_by: end.result?.by ?? null,
    decided_at: end.result?.at ?? null,
    expires_at: new Date(deadline).toISOString(),
    refused,
  }));

  setCurrentDetails(waitingDetails(input, deadline));
  const over = await untilDecidedOrOver();
  const final = await CancellationScope.nonCancellable(async () => {
    if (over) await settle(over, over);
    // Those who decided too late are still told who won.
    await condition(() => allHandlersFinished());
    return end.result;
  });
  if (!final) throw ApplicationFailure.nonRetryable(`approval ${input.approval_id} has no row`, 'NotFound');
  setCurrentDetails(`**${final.status}** by ${markdownText(final.by)}\n\n${markdownCode(input.summary)}`);
  return final;

  async function untilDecidedOrOver(): Promise<'expired' | 'withdrawn' | undefined> {
    try {
      const decided = await condition(() => end.result !== undefined || withdrawn, deadline - Date.now());
      if (withdrawn) return 'withdrawn';
      return decided ? undefined : 'expired';
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return 'withdrawn';
    }
  }
}

function lateDecision(id: string, result: Settled): ApplicationFailure {
  const what = `approval ${id} was ${result.status} by ${result.by} at ${result.at}`;
  if (result.status === 'expired')
    return ApplicationFailure.nonRetryable(
      `approval ${id} expired at ${result.at}; nothing has run`,
      'ApprovalExpired',
    );
  if (result.status === 'withdrawn')
    return ApplicationFailure.nonRetryable(`${what}: its turn was stopped`, 'ApprovalWithdrawn');
  return ApplicationFailure.nonRetryable(what, 'AlreadyDecided', {
    status: result.status,
    by: result.by,
    at: result.at,
  });
}

function waitingDetails(input: ApprovalInput, deadline: number): string {
  return [
    `Waits for a decision until ${new Date(deadline).toISOString()}`,
    '',
    `**${markdownCode(input.summary)}**`,
    '',
    `- session: \`${input.session_key}\``,
    `- turn: \`${input.turn_id}\``,
    '- decide: update or signal `decide` with `{"decision":"approve"}` or `{"decision":"reject","reason":"…"}`',
  ].join('\n');
}
