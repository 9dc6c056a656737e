/**
 * One request for a person's decision, from the question to decision, expiry or withdrawal (AP-1 … AP-6). It outlives
 * the worker, the API and the browser. The first valid decision wins, whichever way it arrives.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  log,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import {
  APPROVAL,
  type ApprovalInput,
  type ApprovalState,
  type ApprovalCarryOver,
  type DecideInput,
  decisionProblem,
  isAsSettled,
  readDecision,
  type SettleApprovalInput,
  type SettleApprovalResult,
  type StandbyInput,
  standbyProblem,
} from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { nextAlarm } from '#domain/approval/approval-alarms.ts';
import { tokensIn } from '#domain/approval/decision-token.ts';
import { markdownCode, markdownText } from '#domain/text/markdown.ts';
import type { WorkState } from '#domain/search-attributes.ts';
import { oneAtATime } from '../domain/async/one-at-a-time.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { isRecord, isText } from '#domain/outside-value.ts';
import {
  countedReceipt,
  lateDecision,
  type Settled,
  stateOf,
  waitingDetails,
} from './steps/approval-view.ts';
import {
  isOnlyCounted,
  type ReceivedSignal,
  type ReceivedSignals,
  takeInTurn,
} from './steps/approval-signals.ts';
import { note_approval, settle_approval } from './steps/approval-records.ts';
import { isQuiet } from './steps/is-quiet.ts';
import { keepUpdate } from './steps/keep-update.ts';
import { shouldGoOnInNewRun } from './steps/run-limits.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const decideUpdate = defineUpdate<DecisionReceipt, [DecideInput]>(APPROVAL.updates.decide);
const decideSignal = defineSignal<[DecideInput]>(APPROVAL.signals.decide);
const stateQuery = defineQuery<ApprovalState>(APPROVAL.queries.state);

const STATE = defineSearchAttributeKey('TempoclawState', 'KEYWORD');

/** State of the approval: handlers write it, the main function below reads it. */
interface Progress extends Mutable<ApprovalCarryOver>, ReceivedSignals {
  readonly input: ApprovalInput;
  readonly start: number;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** Records are never concurrent; see one-at-a-time.ts. */
  readonly inTurn: ReturnType<typeof oneAtATime>;
  /** Number of messages that this run has judged by the rows. */
  taken: number;
  end?: Settled;
}

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

/** Characters shown of a signal that cannot be read. */
const MAX_NAME = 200;

/** Limit for one run: Temporal accepts 2,000 updates of a run, and then no more. */
const MAX_TAKEN = 500;

export async function approval(input: ApprovalInput): Promise<Settled> {
  refuseWrongStart(
    inputProblem('approval', input, ['tenant', 'approval_id', 'session_key', 'turn_id'], ['expires']),
  );
  const deadline = input.until ?? Date.now() + input.expires * 1000;
  const { summary, digest } = input;
  const started = {
    summary,
    digest,
    approvals: 0,
    escalated: false,
    opened: false,
    reminders: 0,
    refused: 0,
    unread: 0,
  };
  const progress: Progress = {
    ...(input.carried ?? started),
    input,
    start: deadline - input.expires * 1000,
    deadline,
    inTurn: oneAtATime(),
    received: 0,
    taken: 0,
    late: 0,
    waiting: [],
  };
  handleMessages(progress);
  setCurrentDetails(waitingDetails(progress));
  const ended = await untilDecidedOrOver(progress);
  const final = await CancellationScope.nonCancellable(async () => {
    if (ended === 'expired' || ended === 'withdrawn') await settle(progress, ended, ended);
    // Late deciders still get the outcome.
    await condition(() => allHandlersFinished());
    return progress.end;
  });
  if (!final && ended === 'full') return continueAsNew<typeof approval>(nextInput(progress));
  if (!final) throw ApplicationFailure.nonRetryable(`approval ${input.approval_id} has no row`, 'NotFound');
  setCurrentDetails(`**${final.status}** by ${markdownText(final.by)}\n\n${markdownCode(progress.summary)}`);
  return final;
}

function nextInput(progress: Progress): ApprovalInput {
  const { summary, digest, approvals, escalated, opened, reminders, refused, last_refused, unread } =
    progress;
  const carried = { summary, digest, approvals, escalated, opened, reminders, refused, last_refused, unread };
  return { ...progress.input, until: progress.deadline, carried };
}

/**
 * Each message is an update, which is answered, and a signal, whose refusal appears in the state, the row and the feed.
 */
function handleMessages(progress: Progress): void {
  setHandler(decideUpdate, (payload) => decide(progress, payload), {
    validator: (payload) => refuseWrong(decisionProblem(payload)),
  });
  setHandler(decideSignal, (payload) => bySignal(progress, decisionProblem(payload), payload, 'decide'));
  for (const verb of ['withdraw', 'escalate'] as const) {
    // Both may have no payload.
    setHandler(
      defineUpdate<ApprovalState, [StandbyInput]>(APPROVAL.updates[verb]),
      (payload = {}) => standBy(progress, verb, payload),
      { validator: (payload = {}) => refuseWrong(standbyProblem(payload)) },
    );
    setHandler(defineSignal<[StandbyInput]>(APPROVAL.signals[verb]), (payload = {}) =>
      bySignal(progress, standbyProblem(payload), payload, verb),
    );
  }
  setDefaultSignalHandler((name, ...args) => {
    const what = name.slice(0, MAX_NAME);
    return bySignal(progress, `an approval takes no signal ${what}`, args, what);
  });
  setHandler(stateQuery, () => stateOf(progress));
}

function refuseWrong(problem: string | undefined): void {
  if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
}

function bySignal(
  progress: Progress,
  problem: string | undefined,
  payload: unknown,
  verb: string,
): Promise<void> | void {
  if (isOnlyCounted(progress, problem, payload)) return;
  return takeInTurn(progress, { problem, payload, verb }, (signal) => takeSignal(progress, signal));
}

async function takeSignal(progress: Progress, { problem, payload, verb }: ReceivedSignal): Promise<void> {
  try {
    if (problem) await refuseUnread(progress, problem, payload, verb);
    else if (verb === 'decide') await decide(progress, payload as DecideInput);
    else await standBy(progress, verb as 'withdraw' | 'escalate', payload as StandbyInput);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    log.warn('message refused', { approval_id: progress.input.approval_id, problem: error.message });
  }
}

async function refuseUnread(
  progress: Progress,
  problem: string,
  payload: unknown,
  what: string,
): Promise<void> {
  const sender = isRecord(payload) ? payload['by'] : undefined;
  const unread = { what, by: isText(sender, MAX_NAME) ? sender : 'unnamed', problem };
  outcomeOf(progress, await settle(progress, 'decided', uuid4(), { unread, tokens: tokensIn(payload) }));
}

/** A later decision waits until the earlier one has been recorded or refused; one after the end gets the outcome. */
function settle(
  progress: Progress,
  outcome: SettleApprovalInput['outcome'],
  key: string,
  sent: Pick<SettleApprovalInput, 'decision' | 'tokens' | 'signal' | 'unread'> = {},
): Promise<SettleApprovalResult> {
  const { tenant, approval_id } = progress.input;
  const message = `${workflowInfo().runId}/${key}`;
  progress.taken += 1;
  return progress.inTurn(async () => {
    const late = outcome === 'decided' && Date.now() >= progress.deadline;
    const place = { tenant, approval_id, outcome: late ? 'expired' : outcome, key, message } as const;
    const result = await settle_approval({ ...place, refused: progress.refused, ...sent });
    if (result.kind !== 'settled') return result;
    const { noted: _, ...end } = result;
    progress.end ??= end;
    return late ? { ...result, won: false } : result;
  });
}

async function decide(progress: Progress, payload: DecideInput): Promise<DecisionReceipt> {
  const { approval_id } = progress.input;
  const decision = readDecision(payload.decision) ?? payload.decision;
  const result = await request(progress, { ...payload, decision });
  if (result.kind !== 'settled') {
    if (result.kind === 'escalated') throw new Error('a decision escalates nothing');
    progress.summary = result.summary;
    progress.digest = result.digest;
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
  if (isAsSettled(decision, result)) return { ...receipt, already: true };
  throw refuseLate(progress, result);
}

/** Withdraws or escalates the question. */
async function standBy(
  progress: Progress,
  verb: 'withdraw' | 'escalate',
  payload: StandbyInput,
): Promise<ApprovalState> {
  const result = await request(progress, { ...payload, decision: verb });
  if (result.kind === 'settled' && !result.won && !isAsSettled(verb, result))
    throw refuseLate(progress, result);
  return stateOf(progress);
}

function refuseLate(progress: Progress, result: Settled): ApplicationFailure {
  progress.refused += 1;
  progress.last_refused = result.noted ?? progress.last_refused;
  return lateDecision(progress.input.approval_id, result);
}

/** Throws the refusal. */
async function request(
  progress: Progress,
  decision: NonNullable<SettleApprovalInput['decision']>,
): Promise<Exclude<SettleApprovalResult, { kind: 'refused' }>> {
  const update = await keepUpdate();
  const sent = {
    decision,
    tokens: tokensIn(decision),
    signal: update === undefined ? (true as const) : undefined,
  };
  return outcomeOf(
    progress,
    await CancellationScope.nonCancellable(() => settle(progress, 'decided', update ?? uuid4(), sent)),
  );
}

/** Throws the refusal, and shows it from then on. */
function outcomeOf(
  progress: Progress,
  result: SettleApprovalResult,
): Exclude<SettleApprovalResult, { kind: 'refused' }> {
  if (result.kind === 'escalated') showEscalated(progress, result.opened);
  if (result.kind !== 'refused') return result;
  progress.refused += 1;
  progress.last_refused = result.noted ?? progress.last_refused;
  setCurrentDetails(waitingDetails(progress));
  throw ApplicationFailure.nonRetryable(result.message, result.type);
}

/** Undefined when it was decided; `full`: this run has accepted as many messages as it should. */
async function untilDecidedOrOver(progress: Progress): Promise<'expired' | 'withdrawn' | 'full' | undefined> {
  try {
    for (;;) {
      const alarm = nextAlarm(progress.input, progress);
      const at = progress.start + alarm.after;
      const woken = await condition(
        () => progress.end !== undefined || progress.taken >= MAX_TAKEN || shouldGoOnInNewRun(0),
        at - Date.now(),
      );
      if (progress.end) return undefined;
      const isFull = woken && Date.now() < at;
      if (isFull && (await isQuiet(() => progress.received + progress.taken)) && !progress.end) return 'full';
      if (isFull) continue;
      if (alarm.what === 'escalated') await escalate(progress);
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
  if (progress.escalated) return;
  const note = { tenant, approval_id, what: 'escalated', count: 1 } as const;
  showEscalated(progress, await progress.inTurn(() => note_approval(note)));
}

function showEscalated(progress: Progress, opened: boolean): void {
  progress.escalated = true;
  progress.opened = opened;
  if (!opened) return log.info('nobody to escalate to', { approval_id: progress.input.approval_id });
  upsertSearchAttributes([{ key: STATE, value: 'escalated' satisfies WorkState }]);
  setCurrentDetails(waitingDetails(progress));
}
