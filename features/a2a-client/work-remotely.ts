/**
 * One attempt at a call of a remote agent. What the next attempt needs is recorded before anything is sent: it finds the
 * task by the context that only this call has, and follows it, whichever worker runs it.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { A2AError } from '@a2a-js/sdk/errors';
import { isStopped } from '#activities/attempt.ts';
import type { ArtifactPlaces } from '#features/artifacts/index.ts';
import type { PendingExternalCall } from '#domain/turn/pending-call.ts';
import { type CallOutside, toolError, type ToolResult } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { EgressError, isUnsent } from '@tempoclaw/egress';
import { type FetchFile, type RemotePlace, RemoteRefusal, withRemote } from './remote-client.ts';
import { isFile, keepFiles, unkeptLine } from './remote-files.ts';
import { fromOutside, isOver, partsOf, resultOf, statusId } from './remote-result.ts';
import type { RemoteWork } from './remote-tool.ts';
import { findRemoteTask, keepRemoteTask } from './store.ts';

export interface RemoteCall extends Omit<RemotePlace, 'call'> {
  readonly db: TenantDb;
  readonly artifacts: ArtifactPlaces;
  readonly work: RemoteWork;
  readonly call: RunningCall;
}

interface Attempt extends RemoteCall {
  readonly outside: CallOutside;
  /** The task that the call answers; undefined for new work. */
  readonly openTask: string | undefined;
}

interface ConnectedAttempt extends Attempt {
  readonly fetchFile: FetchFile;
}

const POLL_MS = 1_000;
/** How long an attempt looks at the task before it leaves the worker. */
const LOOK_MS = 30_000;
/** Seconds until a task is looked at again: a tenth of its age. */
const LATER_SECONDS = { min: 2, max: 120 };

export async function workRemotely(remote: RemoteCall): Promise<ToolResult> {
  const { call, work, agent, db } = remote;
  const { outside } = call;
  if (!outside) throw new Error('calls of remote agents continue outside');
  const { task_id: from } = work;
  const of = { agent: agent.id, session: call.sessionKey };
  const openTask = from === undefined ? undefined : await findRemoteTask(db, { ...of, call: from });
  if (from !== undefined && openTask === undefined)
    return toolError('NotFound', `This conversation has given ${agent.name} no task ${from}`);
  const attempt: Attempt = { ...remote, outside, openTask };
  if (outside.isStopped) return cancel(attempt, toolError('Cancelled', 'the turn has ended'));
  if (isLate(attempt)) return cancel(attempt, late(attempt));
  try {
    return await withRemote(remote, (client, fetchFile) => goOn({ ...attempt, fetchFile }, client));
  } catch (error) {
    return problemOf(attempt, error);
  }
}

async function goOn(attempt: ConnectedAttempt, client: Client): Promise<ToolResult> {
  const { outside } = attempt;
  const { left } = outside;
  if (left?.task !== undefined) return follow(attempt, client, left.task);
  const found = left && (await find(attempt, client).catch(unlessAnswered));
  if (found === 'unknown')
    return toolError(
      'OutcomeUnknown',
      `Whether ${attempt.agent.name} has the message is not known: its answer was lost, and it does not list its tasks`,
    );
  if (found) return keepAndFollow(attempt, client, found);
  return send(attempt, client);
}

/** What an earlier attempt has begun; undefined when it did not come so far. */
async function find({ openTask, call, outside }: Attempt, client: Client): Promise<Task | undefined> {
  if (openTask !== undefined) {
    const task = await client.getTask({ tenant: '', id: openTask, historyLength: 0 });
    return statusId(task) === outside.left?.state ? undefined : task;
  }
  const { tasks } = await client.listTasks({
    tenant: '',
    contextId: contextOf(call),
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
  });
  return tasks[0];
}

function unlessAnswered(error: unknown): 'unknown' {
  if (error instanceof A2AError) return 'unknown';
  throw error;
}

async function send(attempt: ConnectedAttempt, client: Client): Promise<ToolResult> {
  const { work, call, outside, openTask: taskId = '' } = attempt;
  const before =
    taskId === '' ? undefined : await client.getTask({ tenant: '', id: taskId, historyLength: 0 });
  if (before && isOver(before))
    return toolError('InvalidArgs', 'That task has ended; send a message without task_id');
  const state = before ? statusId(before) : undefined;
  if (!outside.left)
    await outside.keep({ since: Date.now(), asks: 0, ...(state !== undefined && { state }) });
  const message: Message = {
    messageId: call.idempotencyKey,
    contextId: taskId === '' ? contextOf(call) : '',
    taskId,
    role: Role.ROLE_USER,
    parts: [
      {
        content: { $case: 'text', value: work.message },
        metadata: undefined,
        filename: '',
        mediaType: 'text/plain',
      },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const answer = await client.sendMessage({
    tenant: '',
    metadata: undefined,
    message,
    configuration: {
      acceptedOutputModes: ['text/plain', 'application/json', 'application/octet-stream'],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    },
  });
  if ('status' in answer) return keepAndFollow(attempt, client, answer);
  // There is no task by which another attempt could have the answer again.
  const files = await keepFiles(attempt, answer.parts).catch((error: unknown) => {
    call.signal.throwIfAborted();
    const why = error instanceof Error ? error.message : 'files cannot be stored';
    return new Map(answer.parts.filter(isFile).map((part) => [part, unkeptLine(part, why)]));
  });
  return resultOf({ name: attempt.agent.name, call: call.callId, answer, files });
}

async function keepAndFollow(attempt: ConnectedAttempt, client: Client, { id }: Task): Promise<ToolResult> {
  const { outside, db, call, agent } = attempt;
  await keepRemoteTask(db, { call: call.callId, agent: agent.id, session: call.sessionKey, task: id });
  await outside.keep({ ...leftOf(outside), task: id });
  return follow(attempt, client, id);
}

async function follow(attempt: ConnectedAttempt, client: Client, id: string): Promise<ToolResult> {
  const { call, agent, outside } = attempt;
  const until = performance.now() + LOOK_MS;
  for (let shown = ''; ; ) {
    const task = await client.getTask({ tenant: '', id, historyLength: 0 });
    const asks =
      task.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED && statusId(task) !== outside.left?.state;
    if (isOver(task) || asks || task.status?.state === TaskState.TASK_STATE_AUTH_REQUIRED)
      return resultOf({
        name: agent.name,
        call: call.callId,
        answer: task,
        files: await keepFiles(attempt, partsOf(task)),
      });
    const state = TaskState[task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? '';
    if (state !== shown) call.progress(state);
    shown = state;
    if (isLate(attempt)) return cancelTask(client, id, late(attempt));
    if (performance.now() > until) return later(attempt);
    await sleep(POLL_MS, undefined, { signal: call.signal });
  }
}

function problemOf(attempt: Attempt, error: unknown): ToolResult | Promise<ToolResult> {
  const { call, outside } = attempt;
  if (call.signal.aborted) {
    if (!isStopped(call.signal)) return Promise.reject(error);
    return cancel(attempt, toolError('Cancelled', 'the turn was stopped'));
  }
  const hasAnswered = error instanceof A2AError || error instanceof RemoteRefusal;
  const isOpen = outside.left?.task !== undefined || (outside.left !== undefined && !isUnsent(error));
  if (isOpen && !hasAnswered) return later(attempt);
  return toolError('ExecutionFailed', wordsOf(attempt, error));
}

function wordsOf({ agent: { name } }: Attempt, error: unknown): string {
  const words = error instanceof Error ? error.message.slice(0, 2_000) : 'it did not answer';
  const isOurs = error instanceof EgressError || error instanceof RemoteRefusal;
  return isOurs ? `${name}: ${words}` : `${name} has not done it:\n${fromOutside(name, words)}`;
}

function later({ outside }: Attempt): ToolResult {
  const age = (Date.now() - leftOf(outside).since) / 10_000;
  const { min, max } = LATER_SECONDS;
  return { ok: true, text: '', pending: { later: Math.min(max, Math.max(min, Math.round(age))) } };
}

function isLate({ outside, work }: Attempt): boolean {
  return outside.left !== undefined && Date.now() - outside.left.since > work.timeout * 1_000;
}

function late({ agent, work }: Attempt): ToolResult {
  return toolError('Timeout', `${agent.name} was not done within ${work.timeout} s, and was told to stop`);
}

/** Tells the remote agent to stop, if it can be reached; the call ends either way. */
async function cancel(attempt: Attempt, result: ToolResult): Promise<ToolResult> {
  const id = attempt.outside.left?.task;
  if (id === undefined) return result;
  const signal = AbortSignal.timeout(CANCEL_MS);
  const call = { ...attempt.call, signal };
  return withRemote({ ...attempt, call }, (client) => cancelTask(client, id, result)).catch(() => result);
}

const CANCEL_MS = 10_000;

async function cancelTask(client: Client, id: string, result: ToolResult): Promise<ToolResult> {
  // It may have ended, or not be reached: nothing more can be done.
  await client.cancelTask({ tenant: '', id, metadata: undefined }).catch(() => undefined);
  return result;
}

function leftOf({ left }: CallOutside): PendingExternalCall {
  return left ?? { since: Date.now(), asks: 0 };
}

/** Nobody can guess it, and no other call has it. */
function contextOf({ tenant, callId, idempotencyKey }: RunningCall): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, callId, idempotencyKey]))
    .digest('hex')
    .slice(0, 32);
}
