/** The protocol's side of a connection: both revisions, what servers are offered, and their questions, handed to the call that they are of. */
import {
  Client,
  type CreateMessageRequest,
  type ElicitRequest,
  type JsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import type { SampledAnswer } from '#domain/left-call.ts';
import { isRecord } from '#domain/outside-value.ts';

/** Extension of MCP 2026-07-28 (SEP-2663). */
const TASKS = 'io.modelcontextprotocol/tasks';
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
/** Where a task that answers a call is handed on, since the SDK knows no such result. */
export const TASK_ANSWER = 'tempoclaw/task';
const MAX_PAGES = 20;
/** A server that says again and again that its list has changed is asked no more often. */
const CHANGES_MS = 1_000;
/** A program that knows no `server/discover` may say nothing at all. */
const DISCOVER_MS = 5_000;

/** A call that is being made, to which its server may put questions over the connection (2025-11-25). */
export interface Talk {
  /** Its task at the server, once it has one. */
  task?: string;
  ask(request: Question, signal: AbortSignal): Promise<Answer>;
}

export type Question = Pick<ElicitRequest | CreateMessageRequest, 'method' | 'params'>;
type ElicitAnswer = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
};
/** To a question of its own kind. */
export type Answer = ElicitAnswer | SampledAnswer;

export function createClient(
  onToolsChanged: () => void,
  /** Whether it may ask the agent's model. */
  sampling: boolean,
): {
  readonly client: Client;
  readonly talks: Set<Talk>;
} {
  const client = new Client(
    { name: 'tempoclaw', version: '1' },
    {
      capabilities: {
        elicitation: { form: {}, url: {} },
        ...(sampling && { sampling: {} }),
        extensions: { [TASKS]: {} },
      },
      // People answer in their own time, and another worker may go on with it then.
      inputRequired: { autoFulfill: false },
      listMaxPages: MAX_PAGES,
      // A schema of a server's making is not compiled: it may be made to take for ever.
      jsonSchemaValidator: {
        getValidator:
          <T>(): JsonSchemaValidator<T> =>
          (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
      },
      listChanged: { tools: { autoRefresh: false, debounceMs: CHANGES_MS, onChanged: onToolsChanged } },
    },
  );
  const talks = new Set<Talk>();
  const ask = (question: Question, signal: AbortSignal) =>
    talkOf(talks, question.params).ask(question, signal);
  client.setRequestHandler(
    'elicitation/create',
    ({ method, params }, { mcpReq }) => ask({ method, params }, mcpReq.signal) as Promise<ElicitAnswer>,
  );
  if (sampling)
    client.setRequestHandler('sampling/createMessage', async ({ method, params }, { mcpReq }) => {
      const answer = await ask({ method, params }, mcpReq.signal);
      if ('role' in answer) return answer;
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'nobody allowed it in time');
    });
  return { client, talks };
}

/** `legacy`: as of 2025-11-25, for programs that end when they are asked for anything else first. Throws when there is no connection. */
export async function connectClient(
  client: Client,
  transport: Transport,
  mode: 'auto' | 'legacy',
  timeout: number,
): Promise<void> {
  client.setVersionNegotiation({ mode, probe: { timeoutMs: DISCOVER_MS } });
  await client.connect(transport, { timeout });
  const pass = transport.onmessage;
  transport.onmessage = (message, extra) => pass?.(withTask(message) as typeof message, extra);
}

/** Whether a call of such a tool is to be asked for as a task (2025-11-25); where the server decides, it needs no asking (2026-07-28). */
export function asksForTask(client: Client, isTask: boolean | undefined): boolean {
  const requests = client.getServerCapabilities()?.tasks?.requests;
  return isTask === true && client.getProtocolEra() === 'legacy' && requests?.tools?.call !== undefined;
}

/** Over a shared connection a server does not say of which call it asks, unless that is a task: so there must be one only. */
function talkOf(talks: ReadonlySet<Talk>, params: Question['params']): Talk {
  const related = params._meta?.[RELATED_TASK];
  const task = isRecord(related) ? related['taskId'] : undefined;
  const meant = [...talks].filter((talk) => task === undefined || talk.task === task);
  const [talk] = meant;
  if (talk && meant.length === 1) return talk;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    'of which call this asks is not known: several are made over this connection',
  );
}

/** An answer that is a task, as the result that the SDK reads. */
function withTask(message: unknown): unknown {
  const result = isRecord(message) ? message['result'] : undefined;
  if (!isRecord(message) || !isRecord(result)) return message;
  const task = result['resultType'] === 'task' ? result : result['task'];
  if (!isRecord(task) || typeof task['taskId'] !== 'string') return message;
  return { ...message, result: { resultType: 'complete', content: [], _meta: { [TASK_ANSWER]: task } } };
}
