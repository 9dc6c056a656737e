/** What a model is asked at a step, so that two of them can be compared part by part. */
import { createHash } from 'node:crypto';
import { canonical } from '#activities/tool-call/call-digest.ts';
import type { ModelRequest } from '#domain/model/model.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { PromptDigest, Difference } from './schema.ts';

type Request = Pick<ModelRequest, 'system' | 'tools' | 'messages'>;

/** Description and parameters of each tool, by its name. */
type Tools = Readonly<Record<string, { readonly description: string; readonly parameters: unknown }>>;

/** `parts`: the texts that `prompt` names by their digests. */
export interface PromptWithParts {
  readonly prompt: PromptDigest;
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Without what differs in every session: its key, and the ids of calls. `hide` removes secrets. */
export function digestPrompt(
  request: Request,
  session: string,
  hide: (text: string) => string,
): PromptWithParts {
  const plain = (text: string): string => hide(text).replaceAll(session, 'SESSION');
  const system = plain(request.system);
  const tools: Tools = Object.fromEntries(
    request.tools.map(({ name, description, parameters }) => [name, { description, parameters }]),
  );
  const all = request.messages.map((message) => ({
    role: message.role,
    digest: digestOf(withoutIds(message, plain)),
  }));
  const last = request.messages.findLastIndex(({ role }) => role === 'assistant');
  const prompt = {
    system: digestOf(system),
    tools: digestOf(tools),
    messages: digestOf(all),
    since: all.slice(Math.max(last, 0)),
  };
  return { prompt, parts: { [prompt.system]: system, [prompt.tools]: tools } };
}

function withoutIds(message: ChatMessage, plain: (text: string) => string): unknown {
  if (message.role === 'user') return plain(message.text);
  if (message.role === 'tool')
    return message.results.map(({ name, ok, text }) => ({ name, ok, text: plain(text) }));
  return { text: plain(message.text), calls: message.calls.map(({ name, args }) => ({ name, args })) };
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 32);
}

/** The first part that differs, in words; undefined when none does. */
export function differenceOf(
  before: PromptDigest,
  parts: Readonly<Record<string, unknown>>,
  now: PromptWithParts,
): Pick<Difference, 'part' | 'message'> | undefined {
  const { prompt } = now;
  if (before.system !== prompt.system) {
    const words = changedLine(String(parts[before.system] ?? ''), String(now.parts[prompt.system] ?? ''));
    return { part: 'system', message: `the system prompt differs: ${words}` };
  }
  if (before.tools !== prompt.tools) {
    const words = changedTool(parts[before.tools] as Tools | undefined, now.parts[prompt.tools] as Tools);
    return { part: 'tools', message: `the tools offered differ: ${words}` };
  }
  if (before.messages === prompt.messages) return undefined;
  const at = prompt.since.findIndex(({ role, digest }, index) => {
    const other = before.since[index];
    return other?.role !== role || other.digest !== digest;
  });
  const role = (prompt.since[at] ?? before.since[prompt.since.length])?.role;
  const what = { user: 'a message', assistant: 'the answer before', tool: 'the results before' };
  return {
    part: 'messages',
    message: `what the model reads differs: ${role === undefined ? 'an earlier message' : what[role]}`,
  };
}

const SHOWN = 160;

function changedLine(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const at = now.findIndex((line, index) => line !== old[index]);
  const show = (line: string | undefined): string =>
    line === undefined ? 'nothing' : JSON.stringify(line.slice(0, SHOWN));
  const index = at < 0 ? now.length : at;
  return `line ${index + 1} was ${show(old[index])} and is ${show(now[index])}`;
}

function changedTool(before: Tools = {}, after: Tools): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  for (const name of names) {
    const [old, now] = [before[name], after[name]];
    if (!old) return `${name} is new`;
    if (!now) return `${name} is no longer offered`;
    if (old.description !== now.description)
      return `${name}: ${changedLine(old.description, now.description)}`;
    if (canonical(old.parameters) !== canonical(now.parameters)) return `${name}: its parameters`;
  }
  return 'their order';
}
