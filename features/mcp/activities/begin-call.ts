/** One `tools/call`, from its sending to the server's first response: a result, a task, or a question to people. */
import type {
  CallToolRequestOptions,
  CallToolResult,
  InputRequiredResult,
} from '@modelcontextprotocol/client';
import { isRecord } from '#domain/outside-value.ts';
import type { McpToolDefinition } from '../rules/server.ts';
import {
  type Answer,
  asksForTask,
  type Question,
  type ElicitationChannel,
  TASK_ANSWER,
} from './create-client.ts';
import type { LiveServer } from './open-server.ts';

export type ServerMessage =
  | { readonly kind: 'result'; readonly result: CallToolResult }
  | { readonly kind: 'task'; readonly id: string }
  | { readonly kind: 'cancelled' }
  | {
      readonly kind: 'asks';
      readonly requests: Readonly<Record<string, unknown>>;
      readonly state?: string;
    };

/** A call that continues in this worker until it is over or stopped, also while nothing waits for it. */
export interface HeldCall {
  readonly talk: Conversation;
  readonly completion: Promise<ServerMessage>;
  /** Resolves when the request is on its way. */
  readonly sent: Promise<void>;
  readonly stop: AbortController;
  readonly hide: (text: string) => string;
}

/** The maximum of a timer. The duration of a call is limited where it is awaited. */
export const UNLIMITED_MS = 2_147_483_647;
/** How long a server keeps a task, if we may say so. */
const TASK_TTL_MS = 86_400_000;

export interface CallToBegin {
  readonly name: string;
  readonly definition: McpToolDefinition;
  readonly args: Readonly<Record<string, unknown>>;
  /** Answers to the questions of an earlier sending. */
  readonly again?: {
    readonly inputResponses: Readonly<Record<string, unknown>>;
    readonly requestState?: string | undefined;
  };
  readonly onprogress: NonNullable<CallToolRequestOptions['onprogress']>;
}

type Use = (work: (live: LiveServer) => Promise<ServerMessage>) => Promise<ServerMessage>;

/** Sends it; `check` throws what prevents the sending. */
export function beginCall(
  use: Use,
  { name, definition, args, again, onprogress }: CallToBegin,
  check: (live: LiveServer) => void,
): HeldCall {
  return hold(
    use,
    undefined,
    async ({ client }, signal) => {
      const task = asksForTask(client, definition.task) ? { task: { ttl: TASK_TTL_MS } } : {};
      const result = await client.callTool(
        { name, arguments: { ...args }, ...task, ...again },
        {
          signal,
          timeout: UNLIMITED_MS,
          allowInputRequired: true,
          toolDefinition: { name, inputSchema: { ...definition.schema, type: 'object' } },
          onprogress,
        },
      );
      return read(result);
    },
    check,
  );
}

/** Holds work on a connection during which its server may ask people. `task` is the task it is about, if known. */
export function hold(
  use: Use,
  task: string | undefined,
  work: (live: LiveServer, signal: AbortSignal) => Promise<ServerMessage>,
  check: (live: LiveServer) => void = () => undefined,
): HeldCall {
  const stop = new AbortController();
  const sent = Promise.withResolvers<void>();
  const talk = createConversation(task);
  let hide = (text: string): string => text;
  const pending = use(async (live) => {
    hide = live.hide;
    check(live);
    stop.signal.throwIfAborted();
    live.talks.add(talk);
    sent.resolve();
    try {
      return await work(live, stop.signal);
    } finally {
      live.talks.delete(talk);
      // A question that was left open gets no other answer.
      talk.answer({ action: 'cancel' });
    }
  });
  // The one that awaits it gets the error.
  pending.catch(() => undefined);
  return { talk, completion: pending, sent: sent.promise, stop, hide: (text) => hide(text) };
}

function read(result: CallToolResult | InputRequiredResult): ServerMessage {
  if (result.resultType === 'input_required') {
    const { inputRequests = {}, requestState } = result as InputRequiredResult;
    return {
      kind: 'asks',
      requests: inputRequests,
      ...(requestState !== undefined && { state: requestState }),
    };
  }
  const task = result._meta?.[TASK_ANSWER];
  if (isRecord(task)) return { kind: 'task', id: String(task['taskId']) };
  return { kind: 'result', result: result as CallToolResult };
}

/** The questions of a server over the connection, one at a time. */
interface Conversation extends ElicitationChannel {
  /** Resolves when there is one, and again at once until it is answered. */
  requests(): Promise<Question>;
  answer(answer: Answer): void;
}

function createConversation(task: string | undefined): Conversation {
  let next = Promise.withResolvers<Question>();
  let waiting: PromiseWithResolvers<Answer> | undefined;
  return {
    ...(task !== undefined && { task }),
    async ask(question, signal) {
      if (waiting) throw new Error('one question at a time');
      waiting = Promise.withResolvers<Answer>();
      signal.addEventListener('abort', () => waiting?.resolve({ action: 'cancel' }), { once: true });
      next.resolve(question);
      return waiting.promise.finally(() => {
        waiting = undefined;
      });
    },
    requests: () => next.promise,
    answer(answer) {
      next = Promise.withResolvers<Question>();
      waiting?.resolve(answer);
    },
  };
}
