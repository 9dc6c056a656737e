/** What clients do with tasks: begin and continue them, look at them and cancel them. */
import type {
  CancelTaskRequest,
  GetTaskRequest,
  Message,
  SendMessageRequest,
  SubscribeToTaskRequest,
  Task,
} from '@a2a-js/sdk';
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { type CallAnswers, answerCalls } from '#api/answer-calls.ts';
import type { ApiDeps } from '#api/deps.ts';
import { reachableTurn } from '#api/found.ts';
import { contextOf } from '#api/routes/turns/messages.ts';
import { withFiles } from '#api/sent-files.ts';
import { type Caller, signatureOf } from '#api/server/auth.ts';
import { stemOfKey } from '#api/server/idempotency.ts';
import { startTurn, wholeTurn } from '#api/start-turn.ts';
import { steerTurn } from '#api/submit-message.ts';
import { createTurnFollower, followUntil, type StartedTurn } from '#api/turn-follower.ts';
import { pauseOf } from '#api/turn-pause.ts';
import { hasEnded } from '#api/turn-wait.ts';
import { isMessageId, isSessionKey } from '#domain/ids.ts';
import { type ApprovalRow, listApprovals } from '#store/approvals/approval-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { turnOfMessage } from '#store/turns/message-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { answerFiles } from './answer-files.ts';
import { readMessage, type ReadMessage } from './read-message.ts';
import { listSpoken } from './store.ts';
import { type TaskTurn, taskOf } from './task.ts';

/** A client's request, to one agent. */
export interface A2aRequest {
  readonly deps: ApiDeps;
  readonly caller: Caller;
  readonly agent: string;
  /** The address of this API. */
  readonly base: string;
  /** Aborted when the client is gone or the server stops; the task goes on. */
  readonly signal: AbortSignal;
}

const MAX_HISTORY = 100;
/** A step makes at most as many calls. */
const MAX_WAITING = 64;

/** Begins a task, or continues the one that the message names. Safe to repeat with the same message id. */
export async function sendMessage(
  request: A2aRequest,
  { message }: SendMessageRequest,
): Promise<StartedTurn> {
  if (!message) throw new RequestMalformedError('message is required');
  const read = readMessage(message, request.base);
  if (message.taskId !== '') return continueTask(request, message, read);
  const { deps, caller, agent } = request;
  if (read.decisions.length > 0)
    throw new RequestMalformedError('An answer needs message.taskId, the task that waits for it');
  const { id, stem } = idOf(request, message);
  const session = message.contextId || `a2a-${stem}`;
  if (!isSessionKey(session))
    throw new RequestMalformedError('message.contextId is not the key of a conversation');
  const context = contextOf(caller, { agent });
  return startTurn(deps, caller, {
    id,
    repeatable: true,
    session,
    text: read.text,
    files: read.files,
    mode: null,
    context,
  });
}

function idOf({ caller, agent }: A2aRequest, { messageId }: Message): { id: string; stem: string } {
  const stem = stemOfKey(messageId, caller, 'a2a', agent);
  return { id: `msg_${stem}`, stem };
}

async function continueTask(
  request: A2aRequest,
  message: Message,
  { text, files, decisions }: ReadMessage,
): Promise<StartedTurn> {
  const { deps, caller } = request;
  const turn = await taskOr404(request, message.taskId);
  if (message.contextId !== '' && message.contextId !== turn.session_key)
    throw new RequestMalformedError('message.contextId is not that of the task');
  if (decisions.length > 0) return answer(request, turn, { results: [], decisions });
  const db = forTenant(deps.pool, caller.tenant);
  const { id } = idOf(request, message);
  // The task may have ended since the message was first sent.
  if ((await turnOfMessage(db, id)) === turn.id) return started(request, turn);
  if (hasEnded(turn))
    throw new UnsupportedOperationError('The task has ended; send the message without taskId to go on');
  const waits = await waitsOf(request, turn);
  if (waits.length > 0) return answer(request, turn, textAnswer(waits, text));
  if (turn.status === 'queued')
    throw new UnsupportedOperationError('The task has not begun; send the message when it works');
  const context = contextOf(caller, { agent: request.agent });
  const { session_key: session } = turn;
  const content = await withFiles(deps, caller.tenant, { text, user: context.user, files });
  const steering = { id, repeatable: true, session, ...content, mode: 'steer', context } as const;
  await steerTurn(deps, caller.tenant, { ...steering, confinedTo: caller.confinedTo }, turn.id);
  return started(request, turn);
}

/** A text answers one question: the result of a tool of the sender's, or a form with one field. */
function textAnswer(waits: readonly ApprovalRow[], text: string): CallAnswers {
  const [first, second] = waits;
  const [field, another] = first?.form?.fields ?? [];
  if (first && !second && first.terms.client_tool)
    return { results: [{ call: first.id, text }], decisions: [] };
  if (first && !second && field && !another && field.type === 'string')
    return { results: [], decisions: [{ approval: first.id, approve: true, args: { [field.name]: text } }] };
  throw new RequestMalformedError(
    'The task waits for decisions: answer each in a data part {"approval": ID, "approve": true or false}',
  );
}

async function answer(request: A2aRequest, turn: TurnRow, answers: CallAnswers): Promise<StartedTurn> {
  const { deps, caller } = request;
  const ids = [
    ...answers.decisions.map(({ approval }) => approval),
    ...answers.results.map(({ call }) => call),
  ];
  const db = forTenant(deps.pool, caller.tenant);
  const own = await listApprovals(
    db,
    caller,
    { requestedOn: { session: turn.session_key, turn: turn.id } },
    MAX_ANSWERABLE,
    undefined,
  );
  if (!ids.every((id) => own.some((one) => one.id === id)))
    throw new RequestMalformedError('The task has asked for no such approval');
  return (await answerCalls(deps, caller, answers)) ?? started(request, turn);
}

/** The newest approvals of a task that can be answered, or answered again. */
const MAX_ANSWERABLE = 1_000;

function started({ deps, caller }: A2aRequest, { id, session_key }: TurnRow): Promise<StartedTurn> {
  return wholeTurn(deps, caller, session_key, id);
}

/** Resolves when the task ends, waits for somebody, or the client is gone. */
export async function waitForTask({ deps, caller, signal }: A2aRequest, turn: StartedTurn): Promise<void> {
  await followUntil(createTurnFollower(deps, caller, turn), signal, (news) => pauseOf(news) !== undefined);
}

export async function subscribeToTask(
  request: A2aRequest,
  { id }: SubscribeToTaskRequest,
): Promise<StartedTurn> {
  const turn = await taskOr404(request, id);
  if (hasEnded(turn)) throw new UnsupportedOperationError('The task has ended; read it with GetTask');
  return started(request, turn);
}

export async function getTask(request: A2aRequest, { id, historyLength }: GetTaskRequest): Promise<Task> {
  const [task] = await showTasks(request, [await taskOr404(request, id)], historyLength, true);
  if (!task) throw new TaskNotFoundError();
  return task;
}

/** Stops the turn and waits for its end. */
export async function cancelTask(request: A2aRequest, { id }: CancelTaskRequest): Promise<Task> {
  const { deps, caller, signal } = request;
  const turn = await taskOr404(request, id);
  if (hasEnded(turn)) throw new TaskNotCancelableError('The task has ended');
  const stop = { level: 'now', turn_id: turn.id, by: signatureOf(caller) } as const;
  await deps.temporal.stop(caller.tenant, turn.session_key, stop);
  const follower = createTurnFollower(deps, caller, await started(request, turn));
  await followUntil(follower, signal, ({ ended }) => ended !== undefined);
  return getTask(request, { tenant: '', id });
}

export async function showTasks(
  request: A2aRequest,
  turns: readonly TaskTurn[],
  historyLength = MAX_HISTORY,
  hasArtifacts: boolean,
): Promise<Task[]> {
  if (!Number.isInteger(historyLength) || historyLength < 0)
    throw new RequestMalformedError('historyLength must be 0 or more');
  const db = forTenant(request.deps.pool, request.caller.tenant);
  const length = Math.min(historyLength, MAX_HISTORY);
  const spoken = length === 0 ? [] : await listSpoken(db, turns, length);
  const files = await answerFiles(request, hasArtifacts ? turns : []);
  return Promise.all(
    turns.map(async (turn) =>
      taskOf(turn, {
        waits: turn.ended_at ? [] : await waitsOf(request, turn),
        history: spoken.filter((one) => one.turn_id === turn.id),
        hasArtifacts,
        files: files.get(turn.id) ?? [],
      }),
    ),
  );
}

/** What the caller sees of what the turn, or work below it, waits for. */
function waitsOf(
  { deps, caller }: A2aRequest,
  { id: turn, session_key: session }: TaskTurn,
): Promise<ApprovalRow[]> {
  const filter = { status: 'pending', requestedOn: { session, turn } } as const;
  return listApprovals(forTenant(deps.pool, caller.tenant), caller, filter, MAX_WAITING, undefined);
}

export async function taskOr404({ deps, caller, agent }: A2aRequest, id: string): Promise<TurnRow> {
  const turn = isMessageId(id) ? await reachableTurn(deps.pool, caller, id) : undefined;
  if (turn?.agent_key !== agent) throw new TaskNotFoundError('There is no task with this id');
  return turn;
}
