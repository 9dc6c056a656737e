/** One request of the protocol, whichever binding it came through: the SDK reads and checks it, tasks.ts does it. */
import type { StreamResponse, Task } from '@a2a-js/sdk';
import { A2A_ERROR_CODE, fromJsonRpcErrorResponse, RequestMalformedError } from '@a2a-js/sdk/errors';
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  validateVersion,
} from '@a2a-js/sdk/server';
import { requireScope } from '#api/server/auth.ts';
import type { StartedTurn } from '#api/turn-follower.ts';
import { hasEnded } from '#api/turn-wait.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import { NotARequest } from './a2a-error.ts';
import { extendedCard, publicCard } from './agent-card.ts';
import { showTaskList } from './list-tasks.ts';
import { createPushConfig, deletePushConfig, getPushConfig, showPushConfigs } from './push-configs.ts';
import { checkTexts } from './read-message.ts';
import {
  type A2aRequest,
  cancelTask,
  getTask,
  sendMessage,
  subscribeToTask,
  taskOr404,
  waitForTask,
} from './tasks.ts';

export interface Incoming extends A2aRequest {
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** Of the header A2A-Version, or else of the query. */
  readonly version: unknown;
}

export type Answer =
  | { readonly result: unknown }
  /** `stays`: the stream goes on while the task waits for somebody. */
  | { readonly turn: StartedTurn; readonly stays: boolean };

const SCOPES: Readonly<Record<string, Scope>> = {
  SendMessage: 'run',
  SendStreamingMessage: 'run',
  CancelTask: 'run',
  GetTask: 'read',
  ListTasks: 'read',
  SubscribeToTask: 'read',
  GetExtendedAgentCard: 'read',
  CreateTaskPushNotificationConfig: 'run',
  DeleteTaskPushNotificationConfig: 'run',
  GetTaskPushNotificationConfig: 'read',
  ListTaskPushNotificationConfigs: 'read',
};

/** Without the header a client means 0.3, by the protocol. */
const UNNAMED_VERSION = '0.3';

/** Of `1.0.2` the last number does not count. */
function versionOf(version: unknown): string {
  if (typeof version !== 'string' || version === '') return UNNAMED_VERSION;
  return version.replace(/^(\d+\.\d+)\.\d+$/, '$1');
}

function isRpcId(id: unknown): boolean {
  return id === null || typeof id === 'string' || Number.isInteger(id);
}

/** `message` is a request of JSON-RPC. Throws A2AError, NotARequest and Failure. */
export async function dispatch(incoming: Incoming, message: unknown): Promise<Answer> {
  const { version, caller, base, agent, binding } = incoming;
  if (!isRecord(message)) throw new NotARequest('Send one request in a body; there are no batches');
  const { method, id = null } = message;
  if (message['jsonrpc'] !== '2.0' || typeof method !== 'string' || !isRpcId(id))
    throw new NotARequest('Send a request of JSON-RPC: {"jsonrpc": "2.0", "id", "method", "params"}');
  const requestedVersion = versionOf(version);
  validateVersion(requestedVersion, publicCard(base, agent), binding);
  const scope = Object.hasOwn(SCOPES, method) ? SCOPES[method] : undefined;
  if (scope) requireScope(caller, scope);
  checkTexts(message['params']);
  const kept: Kept = {};
  const handler = new JsonRpcTransportHandler(createRequestHandler(incoming, kept));
  const response = await handler.handle(message, new ServerCallContext({ requestedVersion }));
  // The SDK would show words of errors that were not written for clients.
  if ('failure' in kept) throw kept.failure;
  if (kept.stream) return kept.stream();
  if (!('error' in response)) return { result: 'result' in response ? response.result : null };
  const error = response.error as { code: number; message: string };
  // Only the reading of the parameters is left.
  if (error.code === A2A_ERROR_CODE.INTERNAL_ERROR)
    throw new RequestMalformedError('The parameters are not those of the method');
  throw fromJsonRpcErrorResponse({ jsonrpc: '2.0', id: null, error });
}

/** What the handler notes for `dispatch`. */
interface Kept {
  failure?: unknown;
  stream?: () => Promise<Answer>;
}

function createRequestHandler(incoming: Incoming, kept: Kept): A2ARequestHandler {
  const { base, agent } = incoming;
  const keep = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      kept.failure = error;
      throw error;
    });
  /** Our streams have the bounds of all streams of the API, so the SDK gets an empty one. */
  const keepStream = (start: () => Promise<StartedTurn>, stays: boolean): AsyncGenerator<StreamResponse> => {
    kept.stream = async () => ({ turn: await start(), stays });
    return noResponses();
  };
  return {
    getAgentCard: async () => publicCard(base, agent),
    getAuthenticatedExtendedAgentCard: () => keep(extendedCard(incoming)),
    sendMessage: (params) => keep(sendAndWait(incoming, params)),
    sendMessageStream: (params) => keepStream(() => sendAndNotify(incoming, params), false),
    getTask: (params) => keep(getTask(incoming, params)),
    listTasks: (params) => keep(showTaskList(incoming, params)),
    cancelTask: (params) => keep(cancelTask(incoming, params)),
    resubscribe: (params) => keepStream(() => subscribeToTask(incoming, params), true),
    createTaskPushNotificationConfig: (config) => keep(createPushConfig(incoming, config)),
    getTaskPushNotificationConfig: (params) => keep(getPushConfig(incoming, params)),
    listTaskPushNotificationConfigs: (params) => keep(showPushConfigs(incoming, params)),
    deleteTaskPushNotificationConfig: (params) => keep(deletePushConfig(incoming, params)),
  };
}

async function sendAndWait(
  incoming: Incoming,
  params: Parameters<A2ARequestHandler['sendMessage']>[0],
): Promise<Task> {
  const turn = await sendAndNotify(incoming, params);
  const { returnImmediately, historyLength } = params.configuration ?? {};
  if (!returnImmediately) await waitForTask(incoming, turn);
  return getTask(incoming, { tenant: '', id: turn.id, historyLength });
}

/** The client may name an address with the message that begins the task. */
async function sendAndNotify(
  incoming: Incoming,
  params: Parameters<A2ARequestHandler['sendMessage']>[0],
): Promise<StartedTurn> {
  const turn = await sendMessage(incoming, params);
  const config = params.configuration?.taskPushNotificationConfig;
  if (config)
    await createPushConfig(incoming, { ...config, taskId: turn.id }).catch(async (error: unknown) => {
      // A task that is so quick is over when its client reads the answer.
      if (!hasEnded(await taskOr404(incoming, turn.id))) throw error;
    });
  return turn;
}

async function* noResponses(): AsyncGenerator<StreamResponse, void, undefined> {}
