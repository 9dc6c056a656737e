/**
 * The only factory of Temporal clients and handles in the API. It implements the contracts of domain/ and throws
 * Failures. A service that cannot be reached is `Unavailable`, never a false success.
 */
import { randomUUID } from 'node:crypto';
import {
  type ActivityClient,
  Client,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  type GrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
  type ScheduleClient,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, type DataConverter } from '@temporalio/common';
import { APPROVAL, type DecideInput } from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { Failure, isFailureType } from '#domain/errors.ts';
import { approvalWorkflowId, sessionWorkflowId } from '#domain/ids.ts';
import { ForeignNamespace } from '#domain/installation.ts';
import { isRecord } from '#domain/outside-value.ts';
import {
  AGENT_TURN,
  type ParkedSession,
  type Receipt,
  type SteerInput,
  type StopInput,
  type TurnState,
} from '#domain/turn/turn.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { GRPC, grpcCode, grpcDetails } from './grpc-error.ts';
import { claimNamespace, keepNamespace } from './installation.ts';
import { backlogOf, type QueueBacklog } from './queue-backlog.ts';
import { reachOf } from './reach-workflows.ts';
import { type FailLostCalls, lostCallFailerOf } from './lost-calls.ts';
import { type EndRuns, listSessions, runEnderOf } from './end-runs.ts';
import { type RemoveRuns, runRemoverOf } from './remove-runs.ts';
import { limitMet } from './server-limits.ts';
import { type SessionStarts, sessionStartsOf } from './start-sessions.ts';
import { sessionStopOf } from './stop-sessions.ts';
import { ensureSweepSchedule } from './sweep-schedule.ts';

/** Greatest time that a caller waits for Temporal to accept a request. */
const DEADLINE_MS = 10_000;

/**
 * Temporal answered, but no worker accepted the message in time. A worker may still accept it: send it again under its
 * id, or leave it.
 */
export class NotTaken extends Failure {
  constructor() {
    super('Unavailable', 'Temporal or its workers did not take this in time; try again');
  }
}
/**
 * Waits between retries when the run or the workflow task that had the request is gone: the next one accepts the same
 * ids.
 */
const GONE_WAITS_MS = [20, 50, 100, 200, 400, 800] as const;

/** The queue's workflow tasks, which each worker polls, in Temporal's API. */
const WORKFLOWS = 1;

/** An unreachable server is reported soon, with the time to come back; a busy one is retried longer. */
const TRIES = { away: 4, busy: 10, firstWaitMs: 100, maxWaitMs: 1_500 } as const;
const BUSY: ReadonlySet<number> = new Set([GRPC.RESOURCE_EXHAUSTED]);
/** By default a channel that lost its server retries only after up to two minutes. */
const CHANNEL = { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 } as const;

export interface TemporalOptions {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** The database's id (store/installation-store.ts): with it nothing is sent to another installation's namespace. */
  readonly installation?: string;
  /** How long a session's run waits for the next message (AgentTurnInput.linger_seconds). */
  readonly lingerSeconds?: number;
  readonly apiKey?: string;
  readonly tls?: NonNullable<ConnectionOptions['tls']>;
  readonly metadata?: Record<string, string>;
  /** The place for the payload codec. */
  readonly dataConverter?: DataConverter;
}

/** For features that use Temporal beyond workflows. */
export interface TemporalClients {
  readonly schedule: ScheduleClient;
  /** It has no payload codec: nodes do not have our keys, so what they receive is sealed separately. */
  readonly activity: ActivityClient;
  readonly connection: Pick<Connection, 'withAbortSignal'>;
  /** Task queue of this deployment's workers. */
  readonly taskQueue: string;
  /** Waits 10 s, and throws only Failures. */
  ask<Result>(request: () => Promise<Result>): Promise<Result>;
}

export interface TemporalAccess extends WorkflowReach, SessionStarts {
  /** Undefined when no turn runs in the session. Safe to repeat. */
  steer(tenant: string, session: string, message: SteerInput): Promise<Receipt | undefined>;
  /** False when no turn runs in the session. Safe to repeat: a stop names its turn. */
  stop(tenant: string, session: string, stop: StopInput): Promise<boolean>;
  /**
   * Undefined when the approval's workflow does not run: not yet started, or ended. `key` identifies this decision (its
   * update id); the approval's row keeps that of the winner.
   */
  decide(approvalId: string, decision: DecideInput, key?: string): Promise<DecisionReceipt | undefined>;
  /** The same without an answer: Temporal keeps it until a worker accepts it. False when the workflow does not run. */
  leaveDecision(approvalId: string, decision: DecideInput): Promise<boolean>;
  /** Undefined when the session's workflow is not running. */
  state(tenant: string, session: string): Promise<TurnState | undefined>;
  /** Undefined when the session's workflow is not running. Needs a worker. */
  parked(tenant: string, session: string): Promise<ParkedSession | undefined>;
  /** The keys of the tenant's sessions whose workflow runs, as Temporal lists them: a moment late. */
  listSessions(tenant: string): Promise<readonly string[]>;
  /** See temporal/end-runs.ts. */
  readonly endRuns: EndRuns;
  /** See temporal/remove-runs.ts. */
  readonly removeRuns: RemoveRuns;
  /** See temporal/lost-calls.ts. */
  readonly failLostCalls: FailLostCalls;
  readonly clients: TemporalClients;
  /** See temporal/sweep-schedule.ts. @throws Failure */
  ensureSweep(): Promise<void>;
  /**
   * Claims the namespace for the installation. Throws when Temporal does not answer within `timeoutMs`, or
   * ForeignNamespace.
   */
  claim(timeoutMs: number): Promise<void>;
  /** Throws when Temporal does not answer within `timeoutMs`, or ForeignNamespace. */
  check(timeoutMs: number): Promise<void>;
  /**
   * The workers that have polled our task queue in the last minutes. Throws when Temporal does not answer within
   * `timeoutMs`.
   */
  pollers(timeoutMs: number): Promise<readonly { readonly identity: string; readonly seen_at: string }[]>;
  /** Throws when Temporal does not answer within `timeoutMs`. */
  backlog(timeoutMs: number): Promise<readonly QueueBacklog[]>;
  close(): Promise<void>;
}

/** Does not wait for the server, which may start later and restart. */
export function connectTemporal(options: TemporalOptions): TemporalAccess {
  const { address, namespace, taskQueue, dataConverter, apiKey, tls, metadata } = options;
  const connection = Connection.lazy({
    address,
    apiKey,
    tls,
    metadata,
    channelArgs: CHANNEL,
    interceptors: [makeGrpcRetryInterceptor(patience())],
  });
  const { workflow: client, schedule } = new Client({
    connection,
    namespace,
    dataConverter,
  });
  const { activity } = new Client({ connection, namespace });
  const { installation } = options;
  const place = { service: connection.workflowService, namespace };
  const belongs = installation === undefined ? undefined : keepNamespace(place, installation);

  /** Closing a channel during a request throws where nothing can catch it, so closing waits for these. */
  const open = new Set<Promise<unknown>>();
  async function within<Result>(deadline: number, request: () => Promise<Result>): Promise<Result> {
    const pending = connection.withDeadline(deadline, async () => {
      await belongs?.();
      return request();
    });
    open.add(pending);
    try {
      return await pending;
    } finally {
      open.delete(pending);
    }
  }

  /** Applies the deadline, and converts every error into a Failure. */
  async function ask<Result>(request: () => Promise<Result>, withinMs = DEADLINE_MS): Promise<Result> {
    const deadline = Date.now() + withinMs;
    try {
      return await within(deadline, () => askAgain(request, deadline, isGone));
    } catch (error) {
      throw toFailure(error);
    }
  }

  /** Returns undefined in place of "there is no such running workflow". */
  async function askRunning<R>(request: () => Promise<R>, withinMs = DEADLINE_MS): Promise<R | undefined> {
    const deadline = Date.now() + withinMs;
    try {
      return await within(deadline, () => askAgain(request, deadline, isLostTask));
    } catch (error) {
      if (isClosedRun(error)) return undefined;
      throw toFailure(error);
    }
  }

  const reach = reachOf(client, taskQueue, ask, askRunning);

  return {
    ...reach,
    ...sessionStartsOf(reach, options.lingerSeconds),
    steer: (tenant, key, message) =>
      reach.update<Receipt>(sessionWorkflowId(tenant, key), AGENT_TURN.updates.steer, message, message.id),
    stop: sessionStopOf(reach),
    decide: (approvalId, decision, key = randomUUID()) =>
      reach.update<DecisionReceipt>(approvalWorkflowId(approvalId), APPROVAL.updates.decide, decision, key),
    leaveDecision: (approvalId, decision) =>
      reach.signal(approvalWorkflowId(approvalId), APPROVAL.signals.decide, decision),
    state: (tenant, key) =>
      askRunning(() =>
        client.getHandle(sessionWorkflowId(tenant, key)).query<TurnState, []>(AGENT_TURN.queries.state),
      ),
    parked: (tenant, key) =>
      askRunning(() =>
        client.getHandle(sessionWorkflowId(tenant, key)).query<ParkedSession, []>(AGENT_TURN.queries.parked),
      ),
    listSessions: (tenant) => ask(() => listSessions(client, tenant)),
    endRuns: runEnderOf({ client, schedule }, ask),
    removeRuns: runRemoverOf(client, connection.workflowService, namespace, ask),
    failLostCalls: lostCallFailerOf(connection.workflowService, activity, namespace, askRunning),
    clients: { schedule, activity, connection, taskQueue, ask },
    ensureSweep: () => ask(() => ensureSweepSchedule(schedule, taskQueue)),
    async claim(timeoutMs) {
      if (installation === undefined) return;
      await connection.withDeadline(Date.now() + timeoutMs, () => claimNamespace(place, installation));
    },
    async check(timeoutMs) {
      await within(Date.now() + timeoutMs, () => connection.workflowService.describeNamespace({ namespace }));
    },
    async pollers(timeoutMs) {
      const request = { namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOWS };
      const { pollers } = await within(Date.now() + timeoutMs, () =>
        connection.workflowService.describeTaskQueue(request),
      );
      return (pollers ?? []).map(({ identity, lastAccessTime: at }) => ({
        identity: identity ?? '',
        seen_at: new Date(Number(at?.seconds ?? 0) * 1000).toISOString(),
      }));
    },
    backlog: (timeoutMs) =>
      within(Date.now() + timeoutMs, () => backlogOf(connection.workflowService, namespace, taskQueue)),
    async close() {
      await Promise.allSettled(open);
      await connection.close();
    },
  };
}

function patience(): GrpcRetryOptions {
  return {
    ...defaultGrpcRetryOptions(),
    retryableDecider: (attempt, status) =>
      isRetryableError(status) && attempt < (BUSY.has(status.code) ? TRIES.busy : TRIES.away),
    delayFunction: (attempt) => Math.min(TRIES.maxWaitMs, TRIES.firstWaitMs * 2 ** (attempt - 1)),
  };
}

async function askAgain<Result>(
  request: () => Promise<Result>,
  deadline: number,
  mayPass: (error: unknown) => boolean,
): Promise<Result> {
  for (const wait of GONE_WAITS_MS) {
    try {
      return await request();
    } catch (error) {
      if (!mayPass(error) || Date.now() + wait >= deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return request();
}

/** The server's words for an update of a run's last task: accepted and not answered, or not processed. */
const CLOSED: ReadonlySet<string> = new Set(['AcceptedUpdateCompletedWorkflow', 'UnprocessedUpdate']);

/** The run that the request was for has ended, or never existed. */
function isClosedRun(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  if (error instanceof WorkflowUpdateFailedError)
    return error.cause instanceof ApplicationFailure && CLOSED.has(error.cause.type ?? '');
  const code = grpcCode(error);
  return code === GRPC.NOT_FOUND || code === GRPC.ABORTED || /already completed/.test(grpcDetails(error));
}

function isGone(error: unknown): boolean {
  return isClosedRun(error) || isLostTask(error);
}

/**
 * The server drops a workflow task, and the updates in it, when another request arrives as it is about to end its run, or
 * when more signals arrive meanwhile than it holds.
 */
function isLostTask(error: unknown): boolean {
  const words = /workflow task failure|workflow task in failed state/i;
  return grpcCode(error) === GRPC.FAILED_PRECONDITION && words.test(grpcDetails(error));
}

/** A refusal of a workflow has a type from our table; every other error of the service means "not now". */
function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error;
  if (error instanceof ForeignNamespace) return new Failure('Unavailable', error.message);
  if (error instanceof WorkflowUpdateFailedError) return refusal(error.cause) ?? error;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return new NotTaken();
  const limit = limitMet(error);
  if (limit) return limit;
  const code = grpcCode(error);
  if (code === undefined) return error;
  if (code === GRPC.INVALID_ARGUMENT || code === GRPC.PERMISSION_DENIED || code === GRPC.UNAUTHENTICATED)
    return error;
  return new Failure('Unavailable', 'Temporal does not answer; try again in a moment');
}

function refusal(cause: Error | undefined): Failure | undefined {
  if (!(cause instanceof ApplicationFailure) || !isFailureType(cause.type)) return undefined;
  const [details] = cause.details ?? [];
  return new Failure(cause.type, cause.message, isRecord(details) ? details : {});
}
