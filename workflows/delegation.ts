/**
 * One piece of work that an agent gave to another (DE-2): turns of its own session as a child workflow, the gates that it must
 * pass, its end as a row, and, after all of that, the message that tells who gave it. An abandoned child of the turn that
 * gave the work, so it outlives that turn, every worker and every restart.
 */
import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import {
  DELEGATION,
  type DelegationActivities,
  type DelegationInput,
  type DelegationOutcome,
  type DelegationState,
  type DelegationStatus,
  type FinishDelegationInput,
  type StopDelegationInput,
} from '#domain/delegation.ts';
import type { ShownCheck } from '#domain/gate.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { markdownText } from '#domain/markdown.ts';
import { ANNOUNCEMENT, RECORD } from './activity-options.ts';
import { checkLine, runGates } from './steps/run-gates.ts';
import { runSession, type SessionEnd, type SessionLimits } from './steps/run-session.ts';
import { inputProblem } from '#domain/start-problem.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const stopSignal = defineSignal<[StopDelegationInput?]>(DELEGATION.signals.stop);
const stateQuery = defineQuery<DelegationState>(DELEGATION.queries.state);

/** How soon it looks again whether its session has answered what its own delegations brought. */
const LOOK_AGAIN = { first: 1_000, most: 30_000 } as const;

type End = Omit<FinishDelegationInput, 'tenant' | 'delegation_id'>;

/** What the handlers leave for the story below, and what people see. */
interface Desk {
  status: DelegationStatus;
  stop: StopDelegationInput | undefined;
  readonly checks: ShownCheck[];
}

export async function delegation(input: DelegationInput): Promise<DelegationOutcome> {
  refuseWrongStart(
    inputProblem(
      'delegation',
      input,
      ['tenant', 'delegation_id', 'session_key', 'message_id', 'parent_session'],
      ['timeout_seconds'],
    ),
  );
  const desk: Desk = { status: 'queued', stop: undefined, checks: [] };
  const deadline = Date.now() + input.timeout_seconds * 1000;
  const limits: SessionLimits = {
    deadline,
    isAsked: () => desk.stop !== undefined,
    askedBy: () => desk.stop ?? {},
  };
  handleMessages(input, desk);
  const { begin_delegation, finish_delegation } = proxyLocalActivities<DelegationActivities>(RECORD);
  const key = { tenant: input.tenant, delegation_id: input.delegation_id };

  const mayBegin = !input.lost && (await CancellationScope.nonCancellable(() => begin_delegation(key)));
  let end: End = input.lost ? { status: 'failed', lost: true } : { status: 'cancelled' };
  if (mayBegin) {
    show('running', input, desk);
    end = await ofCancellation(() => work(input, desk, limits));
  }
  for (let wait: number = LOOK_AGAIN.first; ; wait = Math.min(wait * 2, LOOK_AGAIN.most)) {
    const asked = end;
    const finished = await CancellationScope.nonCancellable(() => finish_delegation({ ...key, ...asked }));
    if (!finished.pending) {
      show(finished.status, input, desk);
      if (finished.untold > 0) await CancellationScope.nonCancellable(() => announce(key));
      const { status, ok } = finished;
      return { delegation_id: input.delegation_id, status, ok, recorded: true };
    }
    end = await ofCancellation(() => waitForOwn(desk, limits, wait, asked));
  }
}

function announce(key: { readonly tenant: string; readonly delegation_id: string }): Promise<void> {
  return proxyActivities<DelegationActivities>(ANNOUNCEMENT).announce_delegations(key);
}

function show(status: DelegationStatus, input: DelegationInput, desk: Desk): void {
  desk.status = status;
  const session = sessionWorkflowId(input.tenant, input.session_key);
  setCurrentDetails(
    [
      `**${markdownText(input.label)}**: ${status}`,
      '',
      `session: \`${session}\``,
      '',
      ...desk.checks.map(checkLine),
    ].join('\n'),
  );
}

function handleMessages(input: DelegationInput, desk: Desk): void {
  setHandler(stopSignal, (given) => {
    desk.stop ??= given ?? {};
  });
  setHandler(stateQuery, () => ({
    delegation_id: input.delegation_id,
    status: desk.status,
    label: input.label,
    source: input.source,
    target: input.target,
    session_key: input.session_key,
    workflow_id: sessionWorkflowId(input.tenant, input.session_key),
    checks: desk.checks,
  }));
}

async function ofCancellation(story: () => Promise<End>): Promise<End> {
  try {
    return await story();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return { status: 'cancelled' };
  }
}

/** The target's turns, then what it gave away itself, then its gates. */
async function work(input: DelegationInput, desk: Desk, limits: SessionLimits): Promise<End> {
  const end = endOf(await turnsOf(input, input.message_id, limits), desk);
  if (end.status !== 'completed') return end;
  if (input.gates.length === 0) return end;
  const waited = await untilOwnAnswered(input, desk, limits);
  if (waited) return waited;
  const { blocked } = await runGates({
    tenant: input.tenant,
    kind: 'delegation',
    owner_id: input.delegation_id,
    label: input.label,
    user: input.user,
    gates: input.gates,
    limits,
    revise: async (messageId) => (await turnsOf(input, messageId, limits)).outcome?.status === 'completed',
    onCheck: (check) => {
      desk.checks.push(check);
      show('running', input, desk);
    },
  });
  if (blocked) return { status: 'failed', blocked: { gate: blocked.index, attempt: blocked.attempt } };
  return desk.stop || Date.now() >= limits.deadline ? over(desk) : end;
}

function turnsOf(input: DelegationInput, messageId: string, limits: SessionLimits): Promise<SessionEnd> {
  return runSession(
    {
      tenant: input.tenant,
      session_key: input.session_key,
      message_id: messageId,
      agent: input.target,
      label: input.label,
      user: input.user,
    },
    limits,
  );
}

/** Gates judge the answer that has all in it. Undefined when it is there. */
async function untilOwnAnswered(
  input: DelegationInput,
  desk: Desk,
  limits: SessionLimits,
): Promise<End | undefined> {
  const { has_pending_work } = proxyLocalActivities<DelegationActivities>(RECORD);
  const key = { tenant: input.tenant, session_key: input.session_key };
  for (let wait: number = LOOK_AGAIN.first; await has_pending_work(key); ) {
    const end = await waitForOwn(desk, limits, wait, { status: 'completed' });
    if (end.status !== 'completed') return end;
    wait = Math.min(wait * 2, LOOK_AGAIN.most);
  }
  return undefined;
}

async function waitForOwn(desk: Desk, limits: SessionLimits, wait: number, end: End): Promise<End> {
  await condition(limits.isAsked, Math.max(1, Math.min(wait, limits.deadline - Date.now())));
  return desk.stop || Date.now() >= limits.deadline ? over(desk) : end;
}

function over({ stop }: Desk): End {
  if (!stop) return { status: 'timeout' };
  const { by, reason, silent } = stop;
  return {
    status: 'cancelled',
    by,
    reason,
    silent: silent || undefined,
  };
}

function endOf({ outcome, problem, inTime }: SessionEnd, desk: Desk): End {
  if (desk.stop || !inTime) return over(desk);
  if (outcome?.status === 'completed') return { status: 'completed' };
  if (outcome?.status === 'failed') return { status: 'failed' };
  return problem === undefined ? { status: 'cancelled' } : { status: 'failed', reason: problem };
}
