/**
 * One request for a person's decision, from asking to decision, expiry or withdrawal (AP-1 … AP-6). It outlives the
 * worker, the API and the browser; the first valid decision wins, whichever way it comes.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
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
  upsertSearchAttributes,
  uuid4,
} from '@temporalio/workflow';
import {
  APPROVAL,
  type ApprovalActivities,
  type ApprovalInput,
  type ApprovalState,
  type CountedDecision,
  type DecideInput,
  type DecisionReceipt,
  decisionProblem,
  isSameDecision,
  readDecision,
  type SettleApprovalInput,
  type SettleApprovalResult,
} from '#domain/approval.ts';
import { nextAlarm } from '#domain/approval-alarms.ts';
import { markdownCode, markdownText } from '#domain/markdown.ts';
import type { WorkState } from '#domain/search-attributes.ts';
import { RECORD } from './activity-options.ts';
import { oneAtATime } from './steps/one-at-a-time.ts';
import { inputProblem } from '#domain/start-problem.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const decideUpdate = defineUpdate<DecisionReceipt, [DecideInput]>(APPROVAL.updates.decide);
const decideSignal = defineSignal<[DecideInput]>(APPROVAL.signals.decide);
const withdrawSignal = defineSignal(APPROVAL.signals.withdraw);
const escalateSignal = defineSignal(APPROVAL.signals.escalate);
const stateQuery = defineQuery<ApprovalState>(APPROVAL.queries.state);

const { settle_approval, note_approval } = proxyLocalActivities<ApprovalActivities>(RECORD);

const STATE = defineSearchAttributeKey('TempoclawState', 'KEYWORD');

type Settled = Extract<SettleApprovalResult, { kind: 'settled' }>;

/** Of the approval: handlers write, the story below reads. */
interface Progress {
  readonly input: ApprovalInput;
  readonly start: number;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** Nothing is recorded beside something else; see one-at-a-time.ts. */
  readonly inTurn: ReturnType<typeof oneAtATime>;
  /** Of the call as it is now: an edit changes it. */
  summary: string;
  approvals: number;
  /** Whether it was tried, and whether others may decide since. */
  escalated: boolean;
  opened: boolean;
  reminders: number;
  refused: number;
  /** Asked for by signal. */
  escalateNow: boolean;
  withdrawn: boolean;
  end?: Settled;
}

export async function approval(input: ApprovalInput): Promise<Settled> {
  refuseWrongStart(
    inputProblem('approval', input, ['tenant', 'approval_id', 'session_key', 'turn_id'], ['expires']),
  );
  const deadline = input.until ?? Date.now() + input.expires * 1000;
  const progress: Progress = {
    input,
    start: deadline - input.expires * 1000,
    deadline,
    inTurn: oneAtATime(),
    summary: input.summary,
    approvals: 0,
    escalated: false,
    opened: false,
    reminders: 0,
    refused: 0,
    escalateNow: false,
    withdrawn: false,
  };
  handleMessages(progress);
  setCurrentDetails(waitingDetails(progress));
  const over = await untilDecidedOrOver(progress);
  const final = await CancellationScope.nonCancellable(async () => {
    if (over) await settle(progress, over, over);
    // Those who decided too late are still told who won.
    await condition(() => allHandlersFinished());
    return progress.end;
  });
  if (!final) throw ApplicationFailure.nonRetryable(`approval ${input.approval_id} has no row`, 'NotFound');
  setCurrentDetails(`**${final.status}** by ${markdownText(final.by)}\n\n${markdownCode(progress.summary)}`);
  return final;
}

function handleMessages(progress: Progress): void {
  const { approval_id } = progress.input;
  setHandler(decideUpdate, (payload) => decide(progress, payload), {
    validator: (payload) => {
      const problem = decisionProblem(payload);
      if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
    },
  });
  setHandler(decideSignal, async (payload) => {
    // A signal cannot be answered: what is wrong with it is counted in the state and logged.
    const problem = decisionProblem(payload);
    if (problem) {
      progress.refused += 1;
      log.warn('decision refused', { approval_id, problem });
      return;
    }
    await decide(progress, payload).catch((error: unknown) => {
      if (!(error instanceof ApplicationFailure)) throw error;
      log.warn('decision refused', { approval_id, problem: error.message });
    });
  });
  setHandler(withdrawSignal, () => {
    progress.withdrawn = true;
  });
  setHandler(escalateSignal, () => {
    progress.escalateNow = true;
  });
  setHandler(stateQuery, () => stateOf(progress));
}

/** A later decision waits until the earlier one has been recorded or refused. */
function settle(
  progress: Progress,
  outcome: SettleApprovalInput['outcome'],
  key: string,
  decision?: DecideInput,
): Promise<SettleApprovalResult> {
  const { tenant, approval_id } = progress.input;
  return progress.inTurn(async () => {
    // A workflow task that was lost may have settled it for a request that now comes second.
    if (progress.end) return { ...progress.end, won: progress.end.key === key };
    const late = outcome === 'decided' && Date.now() >= progress.deadline;
    const result = await settle_approval({
      tenant,
      approval_id,
      outcome: late ? 'expired' : outcome,
      key,
      decision: decision && !late ? decision : undefined,
    });
    if (result.kind === 'settled') progress.end = result;
    return result.kind === 'settled' && late ? { ...result, won: false } : result;
  });
}

async function decide(progress: Progress, payload: DecideInput): Promise<DecisionReceipt> {
  const { approval_id } = progress.input;
  const decision = readDecision(payload.decision) ?? payload.decision;
  const key = currentUpdateInfo()?.id ?? uuid4();
  const result = await CancellationScope.nonCancellable(() =>
    settle(progress, 'decided', key, { ...payload, decision }),
  );
  if (result.kind === 'refused') {
    progress.refused += 1;
    throw ApplicationFailure.nonRetryable(result.message, result.type);
  }
  if (result.kind === 'counted') {
    progress.summary = result.summary;
    progress.approvals = result.approvals;
    setCurrentDetails(waitingDetails(progress));
    return countedReceipt(approval_id, result);
  }
  const receipt = {
    approval_id,
    status: result.status,
    decision: result.decision ?? decision,
    decided_by: result.by,
    decided_at: result.at,
  };
  if (result.won) return receipt;
  if (isSameDecision(decision, result.decision)) return { ...receipt, already: true };
  progress.refused += 1;
  throw lateDecision(approval_id, result);
}

/** Undefined when it was decided. */
async function untilDecidedOrOver(progress: Progress): Promise<'expired' | 'withdrawn' | undefined> {
  try {
    for (;;) {
      const alarm = nextAlarm(progress.input, progress);
      const woken = await condition(
        () => progress.end !== undefined || progress.withdrawn || progress.escalateNow,
        progress.start + alarm.after - Date.now(),
      );
      if (progress.withdrawn) return 'withdrawn';
      if (progress.end) return undefined;
      if (woken || alarm.what === 'escalated') await escalate(progress);
      else if (alarm.what === 'expired') return 'expired';
      else await remind(progress);
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return 'withdrawn';
  }
}

async function remind(progress: Progress): Promise<void> {
  const { tenant, approval_id } = progress.input;
  progress.reminders += 1;
  const count = progress.reminders;
  await progress.inTurn(() => note_approval({ tenant, approval_id, what: 'reminded', count }));
}

async function escalate(progress: Progress): Promise<void> {
  const { tenant, approval_id } = progress.input;
  progress.escalateNow = false;
  if (progress.escalated) return;
  progress.escalated = true;
  progress.opened = await progress.inTurn(() =>
    note_approval({ tenant, approval_id, what: 'escalated', count: 1 }),
  );
  if (!progress.opened) return log.info('nobody to escalate to', { approval_id });
  upsertSearchAttributes([{ key: STATE, value: 'escalated' satisfies WorkState }]);
  setCurrentDetails(waitingDetails(progress));
}

function stateOf(progress: Progress): ApprovalState {
  const { input, end } = progress;
  return {
    approval_id: input.approval_id,
    status: end?.status ?? 'pending',
    decision: end?.decision ?? null,
    decided_by: end?.by ?? null,
    decided_at: end?.at ?? null,
    expires_at: new Date(progress.deadline).toISOString(),
    refused: progress.refused,
    ...(input.quorum === undefined ? {} : { approvals: progress.approvals, quorum: input.quorum }),
    escalated: progress.opened ? (true as const) : undefined,
    token_required: input.token,
  };
}

function countedReceipt(approval_id: string, counted: CountedDecision): DecisionReceipt {
  const { decision, by, at, approvals, quorum, already } = counted;
  return {
    approval_id,
    status: 'pending',
    decision,
    decided_by: by,
    decided_at: at,
    approvals,
    quorum,
    tally: `${approvals} of ${quorum}`,
    already: already || undefined,
  };
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

function waitingDetails({ input, deadline, summary, approvals, opened }: Progress): string {
  return [
    `Waits for a decision until ${new Date(deadline).toISOString()}`,
    '',
    `**${markdownCode(summary)}**`,
    '',
    ...(input.quorum === undefined ? [] : [`- agreed: ${approvals} of ${input.quorum}`]),
    ...(opened ? ['- escalated: others may decide as well'] : []),
    `- session: \`${input.session_key}\``,
    `- turn: \`${input.turn_id}\``,
    ...(input.form === undefined ? [] : [`- an MCP server asks: ${markdownCode(input.form)}`]),
    ...(input.files === undefined ? [] : [`- runs: ${markdownCode(input.files)}`]),
    ...(input.always === undefined ? [] : [`- \`approve_always\`: ${markdownCode(input.always)}`]),
    ...(input.token ? [DECIDE_WITH_TOKEN] : [input.form === undefined ? DECIDE : ANSWER]),
  ].join('\n');
}

const DECIDE =
  '- decide: update or signal `decide` with `{"decision":"approve"}` or `{"decision":"reject","reason":"…"}`';
const ANSWER =
  '- answer: update or signal `decide` with `{"decision":"edit","args":{…}}`, `{"decision":"approve"}` or `{"decision":"reject"}`';
const DECIDE_WITH_TOKEN =
  '- decide: update or signal `decide` with `{"decision":"approve","token":"…"}`; `tempoclaw approvals token ID` makes the token';
