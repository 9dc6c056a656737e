/**
 * Work that an agent gives to another (SA-*, DE-2), under the two names of its kinds. It runs turns of a separate
 * session as a child workflow, and the gates that they must pass. It records its end as a row, and sends the message
 * that announces it. It is an abandoned child of the turn that gave the work, which outlives that turn, every worker
 * and every restart, or a child that the turn waits for.
 */
import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  uuid4,
} from '@temporalio/workflow';
import {
  ANNOUNCE,
  ASSIGNMENT,
  type AssignmentActivities,
  type AssignmentInput,
  type AssignmentOutcome,
  type AssignmentState,
  type AssignmentStatus,
  type FinishAssignmentInput,
  type FinishedAssignment,
  type StopAssignmentInput,
  type WorkKind,
} from '#domain/assignment/assignment.ts';
import type { ShownCheck } from '#domain/gate/gate.ts';
import { assignmentWorkflowId, sessionWorkflowId } from '#domain/ids.ts';
import { markdownText } from '#domain/text/markdown.ts';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { readAssignmentStop, stopWords } from '#domain/turn/stop-of-work.ts';
import {
  AWAIT_SUBAGENTS,
  STEER_SETTLE_MS,
  type SteerSubagentInput,
  type SteerSubagentReceipt,
  steerProblem,
} from '#domain/assignment/subagent.ts';
import type { TurnOutcome } from '#domain/turn/turn.ts';
import { ANNOUNCEMENT, RECORD } from './activity-options.ts';
import { childLabels } from './steps/child-labels.ts';
import { claimLinkedTask, closeLinkedTask } from './steps/linked-task.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';
import { createSignalRefusals, type SignalRefusals } from './steps/refused-signals.ts';
import { checkLine, runGates } from './steps/gates/run-gates.ts';
import { runSession, type SessionEnd, type SessionLimits } from './steps/run-session.ts';
import { signalIfRunning } from './steps/signal-if-running.ts';

const stopSignal = defineSignal<[StopAssignmentInput?]>(ASSIGNMENT.signals.stop);
const steerSignal = defineSignal<[SteerSubagentInput]>(ASSIGNMENT.signals.steer);
const steerUpdate = defineUpdate<SteerSubagentReceipt, [SteerSubagentInput]>(ASSIGNMENT.updates.steer);
const stateQuery = defineQuery<AssignmentState>(ASSIGNMENT.queries.state);

/** What the handlers pass to the main function below, and what people see. */
interface Progress {
  readonly kind: WorkKind;
  readonly input: AssignmentInput;
  status: AssignmentStatus;
  stop: StopAssignmentInput | undefined;
  steer: (SteerSubagentInput & { readonly nextId: string }) | undefined;
  /** Messages that arrive now are too late. */
  isEnding: boolean;
  readonly checks: ShownCheck[];
}

type AssignmentEnd = Omit<FinishAssignmentInput, 'tenant' | 'id'>;

export function subagent(input: AssignmentInput): Promise<AssignmentOutcome> {
  return assignment('subagent', input);
}

export function delegation(input: AssignmentInput): Promise<AssignmentOutcome> {
  return assignment('delegation', input);
}

async function assignment(kind: WorkKind, input: AssignmentInput): Promise<AssignmentOutcome> {
  const texts = ['tenant', 'id', 'session_key', 'message_id', 'target'];
  refuseWrongStart(inputProblem(kind, input, texts, ['timeout_seconds']));
  const progress: Progress = {
    kind,
    input,
    status: 'queued',
    stop: undefined,
    steer: undefined,
    isEnding: false,
    checks: [],
  };
  handleMessages(progress);
  let end: AssignmentEnd = { status: 'failed', lost: true };
  if (!input.lost) {
    show(progress, 'running');
    end = await work(progress).catch(ifCancelled);
  }
  progress.isEnding = true;
  const { finish_assignment } = proxyLocalActivities<AssignmentActivities>(RECORD);
  const { tenant, id } = input;
  return CancellationScope.nonCancellable(async () =>
    leave(progress, await finish_assignment({ tenant, id, ...end })),
  );
}

function ifCancelled(error: unknown): AssignmentEnd {
  if (!isCancellation(error)) throw error;
  return { status: 'cancelled' };
}

function show(progress: Progress, status: AssignmentStatus): void {
  progress.status = status;
  const { tenant, session_key, label } = progress.input;
  const head = `**${markdownText(label)}**: ${status}\n\nsession: \`${sessionWorkflowId(tenant, session_key)}\``;
  setCurrentDetails([head, '', ...progress.checks.map(checkLine)].join('\n'));
}

function idOf({ kind, input }: Progress): { readonly subagent_id?: string; readonly delegation_id?: string } {
  return kind === 'subagent' ? { subagent_id: input.id } : { delegation_id: input.id };
}

function handleMessages(progress: Progress): void {
  const { kind, input } = progress;
  const refusals = createSignalRefusals();
  if (kind === 'subagent') handleSteering(progress, refusals);
  setHandler(stopSignal, (payload) => {
    progress.stop ??= readAssignmentStop(payload);
  });
  setHandler(stateQuery, () => {
    const { source, target, label, session_key, tenant } = input;
    return {
      ...idOf(progress),
      status: progress.status,
      label,
      ...(kind === 'delegation' && { source, target, checks: progress.checks }),
      session_key,
      workflow_id: sessionWorkflowId(tenant, session_key),
      replaced_by: progress.steer?.nextId,
      ...refusals.shown(),
    };
  });
}

function handleSteering(progress: Progress, refusals: SignalRefusals): void {
  const { id } = progress.input;
  const steer = (payload: SteerSubagentInput): SteerSubagentReceipt => {
    const { by } = stopWords(payload);
    const nextId = `sub-${uuid4().replaceAll('-', '').slice(0, 16)}`;
    progress.steer ??= { message: payload.message, ...(by !== undefined && { by }), nextId };
    return { subagent_id: id, replaced_by: progress.steer.nextId };
  };
  const refuse = (payload: SteerSubagentInput): void => {
    const problem = steerProblem(payload);
    if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
    if (progress.isEnding || progress.stop)
      throw ApplicationFailure.nonRetryable(
        `subagent "${id}" is not running (status=${progress.stop ? 'cancelled' : progress.status})`,
        'Conflict',
      );
    if (progress.steer && progress.steer.message !== payload.message)
      throw ApplicationFailure.nonRetryable(
        `subagent "${id}" goes on as "${progress.steer.nextId}" with another message: steer that one`,
        'Conflict',
      );
  };
  setHandler(steerUpdate, steer, { validator: refuse });
  setHandler(steerSignal, (payload) => {
    try {
      refuse(payload);
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      return refusals.note(ASSIGNMENT.signals.steer, payload, error.message);
    }
    steer(payload);
  });
}

/** Claims its task, runs the turns of its session, then its gates. */
async function work(progress: Progress): Promise<AssignmentEnd> {
  const { input } = progress;
  const limits: SessionLimits = {
    deadline: Date.now() + input.timeout_seconds * 1000,
    isCancelRequested: () => progress.stop !== undefined || progress.steer !== undefined,
    cancelRequest: () => ({ by: progress.stop?.by ?? progress.steer?.by, reason: progress.stop?.reason }),
  };
  const turns = (messageId: string): Promise<SessionEnd> =>
    runSession({ ...input, message_id: messageId, agent: input.target }, limits);
  const unclaimed = input.has_task && (await claimLinkedTask(input));
  if (unclaimed) return { status: 'failed', reason: unclaimed };
  const end = endOf(progress, await turns(input.message_id));
  if (end.status !== 'completed' || input.gates.length === 0) return end;
  const { blocked } = await runGates({
    tenant: input.tenant,
    kind: 'delegation',
    owner_id: input.id,
    label: input.label,
    user: input.user,
    gates: input.gates,
    limits,
    revise: async (messageId) => (await turns(messageId)).outcome?.status === 'completed',
    onCheck(check) {
      progress.checks.push(check);
      show(progress, 'running');
    },
  });
  if (blocked) return { status: 'failed', blocked: { gate: blocked.index, attempt: blocked.attempt } };
  const inTime = Date.now() < limits.deadline;
  return limits.isCancelRequested() || !inTime ? endOf(progress, { inTime }) : end;
}

function endOf({ stop, steer }: Progress, { outcome, problem, inTime }: SessionEnd): AssignmentEnd {
  if (stop) {
    const { by, reason, silent } = stop;
    return { status: 'cancelled', by, reason, silent };
  }
  if (steer) {
    const { nextId, message, by } = steer;
    return { status: 'cancelled', by, next: { id: nextId, message } };
  }
  if (!inTime) return { status: 'timeout' };
  const reason = outcome?.error?.message ?? problem;
  if (outcome) return { status: STATUS_OF[outcome.status], reason };
  return reason === undefined ? { status: 'cancelled' } : { status: 'failed', reason };
}

const STATUS_OF: Readonly<Record<TurnOutcome['status'], AssignmentEnd['status']>> = {
  completed: 'completed',
  failed: 'failed',
  stopped: 'cancelled',
};

/** Its end is recorded: notifies the workflows that wait for it, then the giver. */
async function leave(progress: Progress, finished: FinishedAssignment): Promise<AssignmentOutcome> {
  const { kind, input } = progress;
  const { status, ok, unannounced, waiter, next } = finished;
  show(progress, status);
  if (input.has_task) await closeLinkedTask(input);
  if (waiter !== undefined) await signalIfRunning(waiter, AWAIT_SUBAGENTS.signals.ended, {});
  if (unannounced > 0) {
    // Subagents are announced together with others that end within the debounce time.
    if (kind === 'subagent' && unannounced < ANNOUNCE.max) await sleep(ANNOUNCE.debounceMs);
    const { announce_assignment } = proxyActivities<AssignmentActivities>(ANNOUNCEMENT);
    await announce_assignment({ tenant: input.tenant, id: input.id });
  }
  const outcome = { ...idOf(progress), status, ok, recorded: true } as const;
  return next ? goOnAsNext(outcome, next) : outcome;
}

/** SA-2, steer: the replacement already has the slot; the tools of the old one get a moment to finish. */
async function goOnAsNext(
  outcome: AssignmentOutcome,
  { input, waits }: NonNullable<FinishedAssignment['next']>,
): Promise<AssignmentOutcome> {
  await sleep(STEER_SETTLE_MS);
  const { tenant, id, session_key: session, target: agent, user, label } = input;
  const replacement = await startChild<typeof subagent>(ASSIGNMENT.types.subagent, {
    workflowId: assignmentWorkflowId('subagent', id),
    args: [input],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    staticSummary: `subagent: ${label}`,
    typedSearchAttributes: childLabels({ tenant, session, agent, user }),
  });
  // A turn that waits for the old one waits for the new one.
  return waits ? replacement.result() : { ...outcome, replaced_by: id };
}
