/**
 * `rehearsal`: a scripted model that needs no key (MO-2). It keeps no state between calls: its answer depends only on
 * the conversation and the attempt. So any worker may run any step, and a retried step gets the same answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelAnswer, ModelError, type ModelProvider, type ModelRequest } from '#domain/model/model.ts';
import { type RequestedCall, readArguments } from './requested-call.ts';
import { estimateAnswerTokens } from './prompt-size.ts';
import { type Facts, fill, fillNumber, fillValue, readFacts, withValues } from './rehearsal-facts.ts';
import { followUser } from './rehearsal-follow.ts';
import { chooseRule } from './rehearsal-rules.ts';
import { durationMs, type WrittenReply } from './rehearsal-schema.ts';
import type { ScriptStore } from './rehearsal-script.ts';
import { codeOfStatus } from './status-code.ts';

/** Greatest number of calls in one answer; a larger number is a typo that would fill the ledger. */
const MAX_CALLS = 1000;

/** The provider `rehearsal`; a request's `model` is the script's name. */
export function createRehearsal(scripts: ScriptStore): ModelProvider {
  return {
    name: 'rehearsal',
    async generate(request) {
      request.signal.throwIfAborted();
      const script = await scripts.load(request.model);
      const { reply: written, facts } = chooseRule(script, readFacts(request, script.params));
      const reply = { delay: script.delay, stream: script.stream, ...written };
      const message = reply.follow
        ? followUser(facts.values)
        : { text: fill(reply.text ?? '', facts), calls: callsOf(reply, facts) };
      await pause(reply.delay, facts, request.signal);
      if (reply.thinking) request.onThinking?.(fill(reply.thinking, facts));
      await failAsWritten(reply, facts, message.text, request);
      await say(message.text, reply, facts, request);
      return toAnswer(message, reply, facts);
    },
  };
}

function callsOf({ calls = [] }: WrittenReply, facts: Facts): RequestedCall[] {
  const requests = calls.flatMap(({ tool, args, times = 1 }) => {
    const copies = Math.min(Math.max(Math.trunc(fillNumber(times, facts)), 0), MAX_CALLS);
    return Array.from({ length: copies }, (_, copy) => {
      const own = withValues(facts, { index: copy + 1 });
      return { name: fill(tool, own), ...readArguments(fillValue(args, own)) };
    });
  });
  return requests.slice(0, MAX_CALLS);
}

async function failAsWritten(
  reply: WrittenReply,
  facts: Facts,
  text: string,
  request: ModelRequest,
): Promise<void> {
  const { error } = reply;
  if (!error || Number(facts.values['attempt']) > (error.times ?? Number.MAX_SAFE_INTEGER)) return;
  if (text) await say(text, reply, facts, request);
  const { code, status = 500, message = 'The script says that the model fails here.', retry_after } = error;
  throw new ModelError(code ?? codeOfStatus(status), fill(message, facts), {
    retryAfterMs: retry_after === undefined ? undefined : durationMs(retry_after),
  });
}

/** Emits the text at the pace of the script, or in one piece when it sets none. */
async function say(
  text: string,
  { stream }: WrittenReply,
  facts: Facts,
  request: ModelRequest,
): Promise<void> {
  if (!text) return;
  if (!stream) return request.onDelta(text);
  let start = 0;
  while (start < text.length) {
    if (start > 0) await pause(stream.every, facts, request.signal);
    const end = endOfChunk(text, start + stream.chunk);
    request.onDelta(text.slice(start, end));
    start = end;
  }
}

/** A surrogate pair is never cut, so that each delta is valid text. */
function endOfChunk(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end + 1 : end;
}

/** An aborted signal ends it with the signal's own reason. */
async function pause(written: WrittenReply['delay'], facts: Facts, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const ms = durationMs(fill(String(written ?? 0), facts)) ?? 0;
  if (ms <= 0) return;
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function toAnswer(
  message: { text: string; calls: readonly RequestedCall[] },
  { usage, finish }: WrittenReply,
  facts: Facts,
): ModelAnswer {
  return {
    ...message,
    usage: {
      inputTokens: usage?.input ?? Number(facts.values['tokens']),
      outputTokens: usage?.output ?? estimateAnswerTokens(message),
      cachedInputTokens: usage?.cached ?? 0,
    },
    finish: finish ?? (message.calls.length > 0 ? 'calls' : 'stop'),
  };
}
