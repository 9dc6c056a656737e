/**
 * The protocol side of a connection: both revisions, what we offer to servers, and their questions, which go to the
 * call that they belong to.
 */
import {
  Client,
  type CreateMessageRequest,
  type ElicitRequest,
  isSpecType,
  type JsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import type { SampledAnswer } from '#domain/turn/pending-call.ts';
import { MAX_MCP_TOOLS } from '../rules/server.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';

/** Extension of MCP 2026-07-28 (SEP-2663). */
const TASKS = 'io.modelcontextprotocol/tasks';
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
/** Where a task that answers a call is passed on, because the SDK does not support such a result. */
export const TASK_ANSWER = 'tempoclaw/task';
const MAX_PAGES = 20;
/** Time limit of each page except the first. */
const PAGE_MS = 10_000;
/** Where the next page of a list is passed on: the SDK would read pages without end, or none of them. */
const NEXT_PAGE = 'tempoclaw/next-page';
/** A program may be slow to start, and one without `server/discover` may not answer at all. */
const DISCOVER_MS = 20_000;
/** Wait for a server to confirm that it will report changes. */
const LISTEN_MS = 5_000;

/** A running call, to which its server may send questions over the connection (2025-11-25). */
export interface ElicitationChannel {
  /** Its task at the server, once it has one. */
  task?: string;
  ask(request: Question, signal: AbortSignal): Promise<Answer>;
}

export type Question = Pick<ElicitRequest | CreateMessageRequest, 'method' | 'params'>;
type ElicitAnswer = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
};
/** An answer to a question of its own kind. */
export type Answer = ElicitAnswer | SampledAnswer;

export function createClient(
  onToolsChanged: () => void,
  /** Whether it may call the agent's model. */
  sampling: boolean,
): {
  readonly client: Client;
  readonly talks: Set<ElicitationChannel>;
} {
  const client = new Client(
    { name: 'tempoclaw', version: '1' },
    {
      capabilities: {
        elicitation: { form: {}, url: {} },
        ...(sampling && { sampling: {} }),
        extensions: { [TASKS]: {} },
      },
      // People answer in their own time, and another worker may continue then.
      inputRequired: { autoFulfill: false },
      // A server's schema is not compiled, because it could be made to take forever.
      jsonSchemaValidator: {
        getValidator:
          <T>(): JsonSchemaValidator<T> =>
          (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
      },
    },
  );
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged);
  const talks = new Set<ElicitationChannel>();
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

/**
 * `legacy` means revision 2025-11-25, for programs that exit at any other first request. Throws when there is no
 * connection.
 */
export async function connectClient(
  client: Client,
  transport: Transport,
  mode: 'auto' | 'legacy',
): Promise<void> {
  client.setVersionNegotiation({ mode, probe: { timeoutMs: DISCOVER_MS } });
  await client.connect(transport);
  const pass = transport.onmessage;
  transport.onmessage = (message, extra) => pass?.(withResult(message, readable) as typeof message, extra);
}

/**
 * All tools, from at most 20 pages. Those that came stay if there are more pages, if they repeat, or if one does not
 * come.
 */
export async function listTools(client: Client, options: RequestOptions): Promise<readonly Tool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: Tool[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_MCP_TOOLS; page += 1) {
    const params = cursor === undefined ? undefined : { cursor };
    // How long the server allows caching it does not matter, because a check must read it.
    const pending = client.listTools(params, {
      ...options,
      ...(page > 0 && { timeout: PAGE_MS }),
      cacheMode: 'bypass',
    });
    const listed = await (page === 0 ? pending : pending.catch(() => undefined));
    if (!listed) break;
    tools.push(...listed.tools);
    const next = listed._meta?.[NEXT_PAGE];
    if (typeof next !== 'string' || next === '' || seen.has(next)) break;
    seen.add(next);
    cursor = next;
  }
  return tools;
}

/**
 * Whether a server of this connection reports changes of its list. In 2026-07-28, that is while it holds a
 * subscription, which is requested here. Before, it is if the server says so and has a way to. `onEnd` is called when a
 * subscription ends.
 */
export async function hearChanges(client: Client, onEnd: () => void): Promise<boolean> {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return false;
  // Over HTTP, it may have no stream to report it on.
  if (client.getProtocolEra() === 'legacy')
    return !(client.transport instanceof StreamableHTTPClientTransport);
  try {
    const { honoredFilter, closed } = await client.listen({ toolsListChanged: true }, { timeout: LISTEN_MS });
    void closed.then(onEnd);
    return honoredFilter.toolsListChanged === true;
  } catch {
    // It may accept no more subscriptions now; its list is then checked instead.
    return false;
  }
}

/**
 * Whether a server is there, by the request that its revision has for that. A refusal is an answer as well. @throws
 * what a request does
 */
export async function probe(client: Client, options: RequestOptions): Promise<void> {
  const pending = client.getProtocolEra() === 'modern' ? client.discover(options) : client.ping(options);
  await pending.catch((error: unknown) => {
    if (!(error instanceof ProtocolError)) throw error;
  });
}

/**
 * Whether a call of such a tool should request a task (2025-11-25). If the server decides, no request is needed
 * (2026-07-28).
 */
export function asksForTask(client: Client, isTask: boolean | undefined): boolean {
  const requests = client.getServerCapabilities()?.tasks?.requests;
  return isTask === true && client.getProtocolEra() === 'legacy' && requests?.tools?.call !== undefined;
}

/**
 * Over a shared connection, a server does not say which call its question is for, unless that is a task. There must
 * therefore be only one call.
 */
function talkOf(talks: ReadonlySet<ElicitationChannel>, params: Question['params']): ElicitationChannel {
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

function withResult(message: unknown, change: (result: Fields) => Fields): unknown {
  const result = isRecord(message) ? message['result'] : undefined;
  return isRecord(message) && isRecord(result) ? { ...message, result: change(result) } : message;
}

/** Turns a result that the SDK would not read, or not read in full, into one that it does. */
function readable(result: Fields): Fields {
  const task = result['resultType'] === 'task' ? result : result['task'];
  if (isRecord(task) && typeof task['taskId'] === 'string')
    return { resultType: 'complete', content: [], _meta: { [TASK_ANSWER]: task } };
  if ('content' in result) return readableAnswer(result);
  const { tools, nextCursor, _meta, ...rest } = result;
  if (!Array.isArray(tools)) return result;
  // One invalid tool does not affect the others.
  const meta = { ...(isRecord(_meta) && _meta), [NEXT_PAGE]: nextCursor };
  return { ...rest, tools: tools.filter((tool) => isSpecType.Tool(tool)), _meta: meta };
}

/** Reads a tool's answer also if its fields have other names than in the protocol. */
function readableAnswer({ content, isError, structuredContent, ...rest }: Fields): Fields {
  const blocks = (Array.isArray(content) ? content : content === null ? [] : [content]).map(readableBlock);
  if (structuredContent !== undefined && !isRecord(structuredContent))
    blocks.push({ type: 'text', text: JSON.stringify(structuredContent) });
  return {
    ...rest,
    content: blocks,
    ...(isError !== undefined && { isError: Boolean(isError) && isError !== 'false' }),
    ...(isRecord(structuredContent) && { structuredContent }),
  };
}

function readableBlock(block: unknown): unknown {
  if (isSpecType.ContentBlock(block)) return block;
  if (typeof block === 'string') return { type: 'text', text: block };
  const type = isRecord(block) ? block['type'] : undefined;
  // The text is not cut, because half of a secret could not be told from other text.
  const kind = typeof type === 'string' && /^[\w-]{1,50}$/.test(type) ? type : 'unknown';
  return { type: 'text', text: `[content that cannot be read, of the kind ${kind}, is left out]` };
}
