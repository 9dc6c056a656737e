/**
 * The workflow side: an interceptor that has each guarded activity judged before it is scheduled, and its end recorded
 * before its workflow goes on. Temporal's bundler makes it a part of the workflow bundle. It is deterministic.
 */
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  patched,
  proxyActivities,
  TimeoutFailure,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { namedArguments, positionalArguments } from './arguments.ts';
import {
  ASK,
  type Decision,
  type End,
  FAILURES,
  type GuardActivities,
  type GuardedTool,
  type GuardedTools,
  HEADER,
  RECORD,
  UNGUARDED,
} from './contract.ts';

/** The query of this module's request, with which the plugin passes the guarded tools to the bundle. */
declare const __resourceQuery: string;

type Schedule = NonNullable<WorkflowOutboundCallsInterceptor['scheduleActivity']>;
type ActivityCall = Parameters<Schedule>[0];
type Next = Parameters<Schedule>[1];

/** Characters of a result or an error in the record. */
const MAX_TEXT = 2_000;

const { [ASK]: ask, [RECORD]: record } = proxyActivities<GuardActivities>({
  // One attempt asks for some seconds; while a person decides, Temporal repeats it.
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

export const interceptors = (): WorkflowInterceptors => ({ outbound: [createGuard(configuredTools())] });

function configuredTools(): GuardedTools {
  return JSON.parse(decodeURIComponent(__resourceQuery.slice(1).replace(/../g, '%$&')));
}

function createGuard(tools: GuardedTools): WorkflowOutboundCallsInterceptor {
  const guarded = new Map<string, boolean>();
  let calls = 0;

  /**
   * A run that called the activity before its worker had the guard must replay: for the rest of that run, it calls the
   * activity as before.
   */
  function isGuarded(type: string): boolean {
    const known = guarded.get(type) ?? patched(`tempoclaw-guard:${type}`);
    guarded.set(type, known);
    return known;
  }

  return {
    async scheduleActivity(input, next) {
      const tool = toolOf(tools, input.activityType);
      if (!tool) return next(input);
      if (!isGuarded(input.activityType)) return next(withHeader(input, UNGUARDED));
      calls += 1;
      return runGuarded(tool, calls, input, next);
    },
    async scheduleLocalActivity(input, next) {
      const { activityType: type } = input;
      if (!toolOf(tools, type) || !isGuarded(type)) return next(input);
      throw ApplicationFailure.nonRetryable(
        `${type} is guarded, and a local activity cannot be: call it by proxyActivities`,
        FAILURES.refused,
      );
    },
  };
}

function toolOf(tools: GuardedTools, type: string): GuardedTool | undefined {
  return Object.hasOwn(tools, type) ? tools[type] : undefined;
}

async function runGuarded(
  tool: GuardedTool,
  number: number,
  input: ActivityCall,
  next: Next,
): Promise<unknown> {
  const { activityType: type, args, options } = input;
  const { name = type, replay } = tool;
  const decided = await decide(type, number, {
    number,
    tool: name,
    replay,
    args: namedArguments(tool, args),
  });
  if (decided.decision === 'denied') {
    await end({ number, outcome: 'not_run' });
    return refuse(tool, FAILURES.denied, `${type} did not run: ${decided.reason ?? 'the call was denied'}`);
  }
  if (decided.decision === 'answered') {
    await end({ number, outcome: 'not_run' });
    return answerOf(decided);
  }
  const call = {
    ...withHeader(input, String(number)),
    args: decided.edited_args ? positionalArguments(tool, args, decided.edited_args) : args,
    // Temporal starts it at most once then.
    options: replay === 'once' ? { ...options, retry: { ...options.retry, maximumAttempts: 1 } } : options,
  };
  let result: unknown;
  try {
    result = await next(call);
  } catch (error) {
    const ended = endOf(tool, error);
    await end({ number, ...ended });
    if (replay !== 'once' || ended.outcome !== 'unknown' || isCancelled(error)) throw error;
    const lost = `the run of ${type} was lost; it may have taken effect, and it was not run again`;
    return refuse(tool, FAILURES.unknown, lost, error as Error);
  }
  await end({ number, outcome: 'ok', text: textOf(result) });
  return result;
}

/** Fails the call in words that a model can act on, or returns them. */
function refuse({ returnsRefusals }: GuardedTool, type: string, words: string, cause?: Error): string {
  const message = `${type}: ${words}`;
  if (returnsRefusals) return message;
  throw ApplicationFailure.nonRetryable(message, type, [], cause);
}

/** When its workflow gives the call up, its question is withdrawn. */
async function decide(type: string, number: number, request: Parameters<typeof ask>[0]): Promise<Decision> {
  try {
    return await ask(request);
  } catch (error) {
    const { cause } = error as ActivityFailure;
    if (cause instanceof ApplicationFailure && cause.type === FAILURES.refused)
      throw ApplicationFailure.nonRetryable(`${type} did not run: ${cause.message}`, FAILURES.refused);
    await end({ number, outcome: 'not_run' });
    throw error;
  }
}

function end(ended: End): Promise<void> {
  return CancellationScope.nonCancellable(() => record(ended));
}

/** What is known of the effect of a call whose activity has failed. */
function endOf({ replay }: GuardedTool, error: unknown): Omit<End, 'number'> {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const hasRun = cause.type !== FAILURES.refused;
    return {
      outcome: hasRun ? 'failed' : 'not_run',
      code: cut(cause.type || 'Error', 100),
      text: cut(cause.message),
    };
  }
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START')
    return { outcome: 'not_run', code: 'TimedOut', text: 'no worker took it in time' };
  const code = cause instanceof TimeoutFailure ? 'TimedOut' : 'Cancelled';
  return { outcome: replay === 'readonly' ? 'failed' : 'unknown', code };
}

function isCancelled(error: unknown): boolean {
  return (error instanceof ActivityFailure ? error.cause : error) instanceof CancelledFailure;
}

/** A person answers in text; JSON is what the activity would have returned. */
function answerOf({ answer }: Decision): unknown {
  try {
    return JSON.parse(answer ?? 'null');
  } catch {
    // It is plain text.
    return answer;
  }
}

function withHeader(input: ActivityCall, value: string): ActivityCall {
  const headers: Headers = { ...input.headers, [HEADER]: defaultPayloadConverter.toPayload(value) };
  return { ...input, headers };
}

function textOf(result: unknown): string {
  return cut(typeof result === 'string' ? result : (JSON.stringify(result) ?? ''));
}

/** The API takes no NUL and no half characters. */
function cut(text: string, length = MAX_TEXT): string {
  return text.slice(0, length).toWellFormed().replaceAll('\0', '\uFFFD');
}
