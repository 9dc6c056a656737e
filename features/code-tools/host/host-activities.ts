/** The activities of a tool host: they open a request, run the tool or hook, and seal what it returns. */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { NOT_STARTED } from '#temporal/activity-once.ts';
import {
  HOST_LIMITS,
  HOST_WORK,
  type HostHookRequest,
  type HostRequest,
  type HostResult,
  hostWorkPlace,
} from '../contract.ts';
import { hostHookRequestSchema, hostRequestSchema } from '../schema.ts';
import type { CodeHook } from '../sdk/hook.ts';
import type { CodeTool, ToolContext } from '../sdk/tool.ts';
import { textOf } from './output-text.ts';

type Tools = ReadonlyMap<string, CodeTool>;
type Hooks = ReadonlyMap<string, CodeHook>;

/** What a request is for: a tool or a hook by its name, with what may not be said. */
interface Named {
  readonly name: string;
  readonly secrets: Readonly<Record<string, string>>;
}

export function createHostActivities(tools: Tools, hooks: Hooks, key: Uint8Array<ArrayBuffer>) {
  const activity =
    <Request>(
      schema: z.ZodType<Request>,
      nameOf: (request: Request) => Named,
      perform: (request: Request) => Promise<HostResult>,
    ) =>
    async (sealed: Uint8Array) => {
      const { activityId } = activityInfo();
      const request = await readRequest(schema, key, activityId, sealed);
      const alive = setInterval(() => heartbeat(), HOST_WORK.heartbeatMs / 4);
      try {
        const iv = crypto.getRandomValues(new Uint8Array(12));
        return await sealPayload(key, hostWorkPlace(activityId, 'result'), iv, await perform(request));
      } catch (error) {
        cancellationSignal().throwIfAborted();
        const named = nameOf(request);
        // Temporal stores what is thrown, and the code's own words may contain the arguments.
        console.error(`${named.name}: ${wordsOf(named, error)}`);
        throw ApplicationFailure.retryable(`${named.name} has failed; its process says why`, 'ToolFailed');
      } finally {
        clearInterval(alive);
      }
    };
  return {
    [HOST_WORK.run]: activity(hostRequestSchema, namedTool, (request) => runTool(tools, request)),
    [HOST_WORK.probe]: activity(hostRequestSchema, namedTool, (request) => probeTool(tools, request)),
    [HOST_WORK.hook]: activity(hostHookRequestSchema, namedHook, (request) => runHook(hooks, request)),
  };
}

function namedTool({ tool, secrets }: HostRequest): Named {
  return { name: tool, secrets };
}

function namedHook({ hook, secrets }: HostHookRequest): Named {
  return { name: hook, secrets };
}

async function readRequest<Request>(
  schema: z.ZodType<Request>,
  key: Uint8Array<ArrayBuffer>,
  activity: string,
  sealed: Uint8Array,
): Promise<Request> {
  try {
    return schema.parse(await openPayload(key, hostWorkPlace(activity, 'request'), sealed));
  } catch {
    const words = 'this host cannot open it: it is sealed for a host with another API key';
    throw ApplicationFailure.nonRetryable(words, NOT_STARTED);
  }
}

/** Throws when the host ends or the call is cancelled: what came of the run is then unknown. */
async function runTool(tools: Tools, request: HostRequest): Promise<HostResult> {
  try {
    const found = inputOf(tools, request);
    if ('ok' in found) return found;
    const { tool, input } = found;
    const { output } = await withinTime(secondsOf(tool), (signal) =>
      tool.run(input, contextOf(request, signal)),
    );
    return output === undefined
      ? { ok: false, code: 'Timeout', message: `it was not done within ${secondsOf(tool)} s` }
      : { ok: true, text: hide(request.secrets, textOf(output.value)) };
  } catch (error) {
    return failed(namedTool(request), error);
  }
}

/** Throws when the host ends or the run is cancelled. */
async function runHook(hooks: Hooks, request: HostHookRequest): Promise<HostResult> {
  const { hook: name, event, secrets, seconds } = request;
  const hook = hooks.get(name);
  if (!hook) return { ok: false, code: 'NotFound', message: `this host no longer has a hook ${name}` };
  try {
    const { output } = await withinTime(seconds, (signal) => hook.run(event, { signal, secrets }));
    return output === undefined
      ? { ok: false, code: 'Timeout', message: `it did not answer within ${seconds} s` }
      : { ok: true, text: hide(secrets, JSON.stringify(output.value ?? {})) };
  } catch (error) {
    return failed(namedHook(request), error);
  }
}

function failed(named: Named, error: unknown): HostResult {
  cancellationSignal().throwIfAborted();
  return { ok: false, code: 'ExecutionFailed', message: wordsOf(named, error) };
}

function wordsOf({ secrets }: Named, error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return hide(secrets, words).slice(0, HOST_LIMITS.message);
}

function contextOf({ context, secrets }: HostRequest, signal: AbortSignal): ToolContext {
  return { ...context, secrets, signal };
}

/** Throws when the probe does, so that it is tried again. */
async function probeTool(tools: Tools, request: HostRequest): Promise<HostResult> {
  const found = inputOf(tools, request);
  if ('ok' in found) return found;
  const { tool, input } = found;
  const { output } = await withinTime(secondsOf(tool), (signal) => {
    if (!tool.probe) throw new Error(`${request.tool} has no probe`);
    return tool.probe(input, contextOf(request, signal));
  });
  if (output === undefined) throw new Error(`the probe of ${request.tool} has not answered`);
  return output.value === undefined
    ? { nothing: true }
    : { ok: true, text: hide(request.secrets, textOf(output.value)) };
}

function inputOf(
  tools: Tools,
  { tool: name, input }: HostRequest,
): { readonly tool: CodeTool; readonly input: unknown } | Extract<HostResult, { ok: false }> {
  const tool = tools.get(name);
  if (!tool) return { ok: false, code: 'NotFound', message: `this host no longer has a tool ${name}` };
  const parsed = tool.input.safeParse(input);
  return parsed.success
    ? { tool, input: parsed.data }
    : {
        ok: false,
        code: 'InvalidArgs',
        message: schemaProblem(parsed.error, 'arguments').slice(0, HOST_LIMITS.message),
      };
}

/** What it has returned; absent when its time was over. */
interface Ended {
  readonly output?: { readonly value: unknown };
}

async function withinTime(seconds: number, work: (signal: AbortSignal) => unknown): Promise<Ended> {
  const late = AbortSignal.timeout(seconds * 1_000);
  const ended = cancellationSignal();
  const signal = AbortSignal.any([ended, late]);
  const over = new Promise<Ended>((resolve, reject) => {
    const settle = (): void => {
      if (ended.aborted) return reject(ended.reason as Error);
      sleep(HOST_WORK.noticeMs).then(() => resolve({}), reject);
    };
    if (signal.aborted) settle();
    else signal.addEventListener('abort', settle, { once: true });
  });
  try {
    const run = async (): Promise<Ended> => ({ output: { value: await work(signal) } });
    return await Promise.race([run(), over]);
  } catch (error) {
    if (late.aborted && !ended.aborted) return {};
    throw error;
  }
}

function secondsOf({ timeout = 60 }: CodeTool): number {
  return timeout;
}

/** Workers hide all secrets of the tenant; this hides them before they leave the process. */
function hide(secrets: Named['secrets'], text: string): string {
  let hidden = text;
  for (const [name, value] of Object.entries(secrets))
    if (value.length >= HOST_LIMITS.hidden) hidden = hidden.replaceAll(value, `[secret ${name}]`);
  return hidden;
}
