/**
 * One stage of a call of an MCP server: it is started, followed as a task, or continued after people have answered the
 * server's question. What the next stage needs is stored before any wait, so that a call never starts twice.
 */
import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/client';
import { isStopped } from '#activities/attempt.ts';
import type { FormAnswer, PendingExternalCall } from '#domain/turn/pending-call.ts';
import { type McpForm, readForm, standardAnswer } from '#domain/form.ts';
import { readSampling } from '#domain/model/sampling.ts';
import { isRecord } from '#domain/outside-value.ts';
import { mapTexts } from '#domain/text/storable-text.ts';
import { type CallOutside, toolError, type ToolFailure, type ToolResult } from '#domain/tool.ts';
import { beginCall, type CallToBegin, type HeldCall, hold, type ServerMessage } from './begin-call.ts';
import type { LiveServer } from './open-server.ts';
import type { Answer, Question } from './create-client.ts';
import { answerTask, cancelTask, followTask } from './follow-task.ts';

/** A task that takes longer is given up. */
const LONGEST_MS = 86_400_000;
/**
 * Seconds until a task whose server did not answer is checked again: a tenth of its age, so that a day has some hundred
 * checks.
 */
const LATER_SECONDS = { min: 5, max: 300 };
/** Questions of one call, whoever answers them. */
const MAX_ASKS = 20;
/** Calls that wait in a worker for answers. */
const MAX_HELD = 200;
/** The key of a question that comes over the connection. */
const HELD = 'held';

/** An earlier attempt may have made the call, or the worker that had the connection is gone. */
export class CallLost extends Error {}
/** The server did not answer in time; it is unknown whether it has done anything. */
export class CallLate extends Error {}

export interface McpCallAttempt {
  /** Key of the tenant and the call. */
  readonly key: string;
  readonly server: string;
  /** True if it may call the agent's model. */
  readonly maySample: boolean;
  readonly begins: Omit<CallToBegin, 'again'>;
  /** Throws what prevents the sending of the call. */
  readonly check: (live: LiveServer) => void;
  readonly use: <Result>(work: (live: LiveServer) => Promise<Result>) => Promise<Result>;
  readonly held: Map<string, HeldCall>;
  readonly outside: CallOutside;
  readonly signal: AbortSignal;
  /** True if a second run would do nothing new. */
  readonly mayRepeat: boolean;
  readonly limitMs: number;
  readonly progress: (line: string) => void;
  readonly show: (result: CallToolResult, hide: (text: string) => string) => ToolResult;
  /** Called when the request may have reached the server. */
  readonly onSent: (hide: (text: string) => string) => void;
}

export async function resumeCall(attempt: McpCallAttempt): Promise<ToolResult> {
  const { outside, held: all, key } = attempt;
  const { left, answer } = outside;
  const held = all.get(key);
  all.delete(key);
  if (answer?.status === 'withdrawn' || outside.isStopped) return endCall(attempt, withdrawn(attempt), held);
  if (held && left?.isHeld) return answerHeld(attempt, held, left, answer);
  checkUnsent(attempt);
  if (left?.questions && !left.isHeld) return submitAnswer(attempt, left, answer);
  if (left?.task !== undefined) return follow(attempt, left.task, left);
  return awaitResponse(attempt, begin(attempt), left ?? { since: Date.now(), asks: 0 });
}

/**
 * Answers are stored before they are sent: if one is still open, nothing was sent. @throws CallLost when another
 * attempt may have made the call.
 */
function checkUnsent({ mayRepeat, outside: { left, isAgain } }: McpCallAttempt): void {
  const isOpen = left?.questions !== undefined && !left.isHeld && openKey(left) !== undefined;
  if (mayRepeat || isOpen || left?.task !== undefined) return;
  if (left?.isHeld || isAgain)
    throw new CallLost('the worker that made the call, and held its connection, is gone');
}

async function answerHeld(
  attempt: McpCallAttempt,
  held: HeldCall,
  remaining: PendingExternalCall,
  answer: FormAnswer | undefined,
): Promise<ToolResult> {
  try {
    const message = await answerTo(attempt, remaining.questions?.[HELD], answer);
    if ('ok' in message) return await endCall(attempt, message, held);
    held.talk.answer(message);
  } catch (error) {
    held.stop.abort();
    throw error;
  }
  return awaitResponse(attempt, held, remaining);
}

function begin(attempt: McpCallAttempt, again?: CallToBegin['again']): HeldCall {
  const { use, begins, check } = attempt;
  return beginCall(use, { ...begins, ...(again && { again }) }, check);
}

/** Handles the answer to the open question; after the last one of several, they are sent to the server. */
async function submitAnswer(
  attempt: McpCallAttempt,
  remaining: PendingExternalCall,
  answer: FormAnswer | undefined,
): Promise<ToolResult> {
  const { questions = {}, state, ...rest } = remaining;
  const key = openKey(remaining);
  const message = key === undefined ? undefined : await answerTo(attempt, questions[key], answer);
  if (message && 'ok' in message) return endCall(attempt, message);
  const answers = { ...remaining.answers, ...(key !== undefined && { [key]: message }) };
  const now = { ...remaining, answers };
  if (openKey(now) !== undefined) return ask(attempt, now);
  if (remaining.task === undefined) {
    await attempt.outside.keep(now);
    return awaitResponse(attempt, begin(attempt, { inputResponses: answers, requestState: state }), rest);
  }
  const { task } = remaining;
  const input = Object.fromEntries(Object.keys(questions).map((name) => [name, answers[name]]));
  const followed = { ...rest, answers };
  try {
    await attempt.use(({ client }) => answerTask(client, task, input));
    await attempt.outside.keep(followed);
  } catch (error) {
    return pollLater(attempt, remaining, error);
  }
  return follow(attempt, task, followed);
}

async function follow(attempt: McpCallAttempt, task: string, rest: PendingExternalCall): Promise<ToolResult> {
  const { answers = {} } = rest;
  const isAnswered = (key: string): boolean => Object.hasOwn(answers, key);
  const held = hold(attempt.use, task, (live, signal) =>
    followTask(live, task, isAnswered, signal, attempt.progress),
  );
  return awaitResponse(attempt, held, rest);
}

/** Waits for the server's next response, for as long as a call may take. */
async function awaitResponse(
  attempt: McpCallAttempt,
  held: HeldCall,
  remaining: PendingExternalCall,
): Promise<ToolResult> {
  let next: Next;
  try {
    next = await nextOf(attempt, held);
  } catch (error) {
    held.stop.abort();
    return pollLater(attempt, remaining, error);
  }
  return next.kind === 'question'
    ? suspend(attempt, held, remaining, mapTexts(next.question, held.hide))
    : handleResponse(attempt, next, remaining, held.hide);
}

type Next = ServerMessage | { readonly kind: 'question'; readonly question: Question };

/** @throws CallLate, and what the call does. */
async function nextOf({ signal, limitMs, onSent }: McpCallAttempt, held: HeldCall): Promise<Next> {
  const question = held.talk.requests().then((question) => ({ kind: 'question', question }) as const);
  const ended = Promise.withResolvers<never>();
  const stop = (): void => ended.reject(new Error('stopped'));
  let timer: NodeJS.Timeout | undefined;
  // The connection has a time limit of its own.
  const sent = held.sent.then(() => {
    onSent(held.hide);
    timer = setTimeout(() => ended.reject(new CallLate()), limitMs).unref();
    return ended.promise;
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([held.completion, question, sent, ended.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function handleResponse(
  attempt: McpCallAttempt,
  message: ServerMessage,
  remaining: PendingExternalCall,
  hide: HeldCall['hide'],
): Promise<ToolResult> {
  const { since, asks, task, answers } = remaining;
  switch (message.kind) {
    case 'result':
      return attempt.show(message.result, hide);
    case 'cancelled':
      return toolError('ExecutionFailed', `the MCP server ${attempt.server} has cancelled the task`);
    case 'task': {
      const started = { since, asks, task: message.id };
      await attempt.outside.keep(started);
      return follow(attempt, message.id, started);
    }
    case 'asks': {
      const { state } = message;
      const requested = Object.fromEntries(
        Object.entries(message.requests).map(([key, request]) => [key, mapTexts(request, hide)]),
      );
      const known = task === undefined ? {} : { task, ...(answers && { answers }) };
      return ask(attempt, {
        since,
        asks,
        ...known,
        questions: requested,
        ...(state !== undefined && { state }),
      });
    }
  }
}

/** The first question that has no answer yet. */
function openKey({ questions = {}, answers = {} }: PendingExternalCall): string | undefined {
  return Object.keys(questions).find((key) => !Object.hasOwn(answers, key));
}

async function ask(attempt: McpCallAttempt, remaining: PendingExternalCall): Promise<ToolResult> {
  const key = openKey(remaining);
  if (remaining.asks >= MAX_ASKS)
    return endCall(attempt, failure(attempt, `asked more than ${MAX_ASKS} times`));
  // A server may only want to be called again, with its state.
  if (key === undefined) return submitAnswer(attempt, { ...remaining, asks: remaining.asks + 1 }, undefined);
  const form = questionOf(attempt, remaining.questions?.[key]);
  if (form)
    return { ok: true, text: '', pending: { form, left: { ...remaining, asks: remaining.asks + 1 } } };
  return endCall(attempt, notOffered(attempt));
}

function failure({ server }: McpCallAttempt, words: string): ToolFailure {
  return toolError('ExecutionFailed', `the MCP server ${server} ${words}`);
}

function notOffered(attempt: McpCallAttempt): ToolFailure {
  return failure(attempt, 'asks for what is not offered to it, or more than people can be shown');
}

function questionOf({ server, maySample }: McpCallAttempt, request: unknown): McpForm | undefined {
  if (!isRecord(request)) return undefined;
  const { method, params } = request;
  if (method === 'elicitation/create') return readForm(server, params);
  return method === 'sampling/createMessage' && maySample ? readSampling(server, params) : undefined;
}

/** The call stays at the server, and its connection in this worker, until people have answered. */
async function suspend(
  attempt: McpCallAttempt,
  held: HeldCall,
  remaining: PendingExternalCall,
  question: unknown,
): Promise<ToolResult> {
  const result = await ask(attempt, {
    ...remaining,
    questions: { [HELD]: question },
    answers: {},
    isHeld: true,
  });
  if (!result.ok) {
    held.stop.abort();
    return result;
  }
  if (attempt.held.size >= MAX_HELD) {
    held.talk.answer({ action: 'cancel' });
    return awaitResponse(attempt, held, { ...remaining, asks: remaining.asks + 1 });
  }
  attempt.held.set(attempt.key, held);
  return result;
}

/** The answer for the server. Not every revision can tell it that the model's answer is refused, so the call ends. */
async function answerTo(
  attempt: McpCallAttempt,
  request: unknown,
  answer: FormAnswer | undefined,
): Promise<Answer | ToolFailure> {
  const form = questionOf(attempt, request);
  const isApproved = answer?.status === 'approved';
  if (form?.prompt) return isApproved ? attempt.outside.sample(form.prompt) : unsampled(attempt, answer);
  // An admin may have revoked in the meantime what it asks for.
  if (!form) return notOffered(attempt);
  if (!isApproved) return { action: answer?.status === 'denied' ? 'decline' : 'cancel' };
  if (form.url !== undefined) return { action: 'accept' };
  return {
    action: 'accept',
    content: { ...(answer.content ?? standardAnswer(form)) } as Record<string, string>,
  };
}

function unsampled({ server }: McpCallAttempt, answer: FormAnswer | undefined): ToolFailure {
  return toolError(
    answer?.status === 'denied' ? 'ApprovalDenied' : 'ApprovalExpired',
    `nobody allowed the MCP server ${server} an answer of the model; the call was ended, and what it had done by then stays done`,
  );
}

function withdrawn({ server }: McpCallAttempt): ToolFailure {
  return toolError(
    'Cancelled',
    `the call was stopped while it was at the MCP server ${server}; what it had done by then stays done`,
  );
}

async function endCall(attempt: McpCallAttempt, failure: ToolFailure, held?: HeldCall): Promise<ToolFailure> {
  held?.stop.abort();
  const task = attempt.outside.left?.task;
  if (task !== undefined) await cancelQuietly(attempt, task);
  return failure;
}

/** A server that does not answer ends its task when it chooses. */
async function cancelQuietly({ use }: McpCallAttempt, task: string): Promise<void> {
  await use(({ client }) => cancelTask(client, task)).catch(() => undefined);
}

/** A failure on the way to a task says nothing about the task itself. Throws what ends the call. */
async function pollLater(
  attempt: McpCallAttempt,
  remaining: PendingExternalCall,
  error: unknown,
): Promise<ToolResult> {
  const { outside, signal, server } = attempt;
  const { task, since } = outside.left ?? remaining;
  if (task === undefined) throw error;
  if (isStopped(signal)) await cancelQuietly(attempt, task);
  if (signal.aborted || error instanceof ProtocolError) throw error;
  const age = Date.now() - since;
  if (age < LONGEST_MS) {
    const { min, max } = LATER_SECONDS;
    const later = Math.min(max, Math.max(min, Math.ceil(age / 10_000)));
    return { ok: true, text: '', pending: { later } };
  }
  await cancelQuietly(attempt, task);
  return toolError(
    'Timeout',
    `the task at the MCP server ${server} was not over within a day and was cancelled`,
  );
}
