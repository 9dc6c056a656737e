/** Around guarded activities in their worker: refuses those that nobody judged, and hides secrets in what they return. */
import { scrubJson, scrubText } from '@tempoclaw/scrubber';
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { FAILURES, type GuardedTools, HEADER } from './contract.ts';

/** For one activity of the type; undefined when that is not guarded. */
export function inboundOf(tools: GuardedTools, type: string): ActivityInboundCallsInterceptor | undefined {
  const tool = Object.hasOwn(tools, type) ? tools[type] : undefined;
  if (!tool) return undefined;
  return {
    async execute(input, next) {
      const header = input.headers[HEADER];
      // Its workflow would run it without rules, approvals and record.
      if (!header || typeof defaultPayloadConverter.fromPayload(header) !== 'string')
        throw ApplicationFailure.nonRetryable(
          `${type} did not run: its workflow has no guard; bundle it with the plugin TempoClawPlugin (bundleWorkflowCode({ plugins }))`,
          FAILURES.refused,
        );
      return tool.scrub === false ? next(input) : scrubbed(() => next(input));
    },
  };
}

async function scrubbed(run: () => Promise<unknown>): Promise<unknown> {
  try {
    const result = await run();
    return typeof result === 'string' ? scrubText(result).text : isPlain(result) ? scrubJson(result) : result;
  } catch (error) {
    throw hideIn(error);
  }
}

/** Bytes and the like are as their activity returned them. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

/** The same error: its class and its other fields say how Temporal goes on. */
function hideIn(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error) || depth > 5) return error;
  error.message = scrubText(error.message).text;
  if (error.stack !== undefined) error.stack = scrubText(error.stack).text;
  if (error instanceof ApplicationFailure && error.details)
    Object.assign(error, { details: scrubJson(error.details) });
  hideIn(error.cause, depth + 1);
  return error;
}
