/**
 * `rehearsal`: a scripted model that needs no key (MO-2). It keeps nothing between calls: what it answers depends on the
 * conversation and the attempt alone, so any worker may take any step and a retried step answers alike.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelAnswer, ModelError, type ModelProvider, type ModelRequest } from '#domain/model.ts';
import type { AskedCall } from './asked-call.ts';
import { estimateAnswerTokens } from './prompt-size.ts';
import type { Reply, Script } from './rehearsal-compile.ts';
import { readFacts } from './rehearsal-facts.ts';
import { followUser } from './rehearsal-follow.ts';
import { durationMs } from './rehearsal-schema.ts';
import type { ScriptStore } from './rehearsal-script.ts';
import type { Facts } from './rehearsal-template.ts';
import { codeOfStatus } from './status-code.ts';

/** The provider `rehearsal`; a request's `model` is the script's name. */
export function createRehearsal(scripts: ScriptStore): ModelProvider {
  return {
    name: 'rehearsal',
    async generate(request) {
      request.signal.throwIfAborted();
      const script = await scripts.load(request.model);
      const { reply, facts } = chooseRule(script, readFacts(request, script.params));
      const said = reply.follow
        ? followUser(facts.user, facts.step, facts.results.map((result) => result.text).join('\n'))
        : { text: reply.text(facts), calls: reply.calls(facts) };
      await pause(reply.delayMs(facts), request.signal);
      await failAsWritten(reply, facts, said.text, request);
      await say(said.text, reply, facts, request);
      return toAnswer(said, reply, facts);
    },
  };
}

/** The first rule that applies; the loader has seen that the last one always does. */
function chooseRule(script: Script, facts: Facts): { reply: Reply; facts: Facts } {
  for (const rule of script.rules) {
    const match = rule.test(facts);
    if (match) return { reply: rule.reply, facts: { ...facts, match } };
  }
  throw new ModelError(
    'BadRequest',
    'No rule of the rehearsal script applies; end it with a rule that has no `when`.',
  );
}

async function failAsWritten(reply: Reply, facts: Facts, text: string, request: ModelRequest): Promise<void> {
  const { error } = reply;
  if (!error || facts.attempt > (error.written.times ?? Number.MAX_SAFE_INTEGER)) return;
  if (text) await say(text, reply, facts, request);
  const retryAfterMs =
    error.written.retry_after === undefined ? undefined : durationMs(error.written.retry_after);
  throw new ModelError(
    error.written.code ?? codeOfStatus(error.written.status ?? 500),
    error.message(facts),
    {
      retryAfterMs,
    },
  );
}

/** Gives the text out in the pace that the script asks for, in one piece when it asks for none. */
async function say(text: string, reply: Reply, facts: Facts, request: ModelRequest): Promise<void> {
  if (!text) return;
  if (!reply.stream) return request.onDelta(text);
  const everyMs = reply.stream.everyMs(facts);
  let start = 0;
  while (start < text.length) {
    if (start > 0) await pause(everyMs, request.signal);
    const end = endOfChunk(text, start + reply.stream.chunk);
    request.onDelta(text.slice(start, end));
    start = end;
  }
}

/** A surrogate pair is never cut, so that each delta is whole text. */
function endOfChunk(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end + 1 : end;
}

/** Waits `ms`; an aborted signal ends it with the signal's own reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function toAnswer(
  said: { text: string; calls: readonly AskedCall[] },
  reply: Reply,
  facts: Facts,
): ModelAnswer {
  return {
    text: said.text,
    calls: said.calls,
    usage: {
      inputTokens: reply.usage?.input ?? facts.tokens,
      outputTokens: reply.usage?.output ?? estimateAnswerTokens(said),
      cachedInputTokens: reply.usage?.cached ?? 0,
    },
    finish: reply.finish ?? (said.calls.length > 0 ? 'calls' : 'stop'),
  };
}
