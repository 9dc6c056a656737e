/**
 * Hooks run before a session, a prompt, a call or an agent starts; the settings, a tenant or an agent define them. Pure
 * rules; activities/hooks runs them. For observers without influence there are webhooks.
 */
import { matchesTool, type PolicyTool } from '#domain/policy/tool-groups.ts';
import { HOOK_LIMITS, type hookAnswerSchema, type hookRunSchema, type hookSchema } from '../schema/hook.ts';
import type { Kept } from '#domain/schema/scalars.ts';

export type Hook = Kept<typeof hookSchema>;
export type HookAnswer = Kept<typeof hookAnswerSchema>;
export type HookRun = Kept<typeof hookRunSchema>;

/** Each layer adds to the one before: no layer can remove a hook of another. */
export type HookLayers = readonly (readonly Hook[] | undefined)[];

/** Tools that start work of another agent, each with its actions that start none. */
const STARTERS: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['spawn', ['list', 'get', 'wait', 'cancel']],
  ['delegate', ['list', 'get', 'history', 'cancel']],
  ['evaluate_loop', []],
]);

function starts(tool: string, action: unknown): boolean {
  return STARTERS.get(tool)?.includes(action) === false;
}

export function hooksOfCall(layers: HookLayers, tool: PolicyTool, action?: unknown): readonly Hook[] {
  return layers
    .flatMap((hooks) => hooks ?? [])
    .filter(
      ({ event, tools }) =>
        (event === 'pre_tool_use' || (event === 'subagent_start' && starts(tool.name, action))) &&
        (tools === undefined || tools.some((pattern) => matchesTool(pattern, tool))),
    );
}

export function hooksOfPrompt(layers: HookLayers): readonly Hook[] {
  return layers
    .flatMap((hooks) => hooks ?? [])
    .filter(({ event }) => event === 'user_prompt_submit' || event === 'session_start');
}

/** Why a hook of `subagent_start` lets nothing start, for the model; `why` is the hook's own reason, if it has one. */
export function startRefusal(tool: string | undefined, target: unknown, why: string | undefined): string {
  const what =
    tool === 'delegate' && typeof target === 'string' ? `delegation to "${target}"` : (tool ?? 'this call');
  return `${what} blocked by hook policy${why ? `: ${why}` : ''}`;
}

export function hookName({ name, type, command, url, prompt, code }: Hook): string {
  const what = command ?? url ?? prompt ?? code ?? '';
  return name ?? `${type}: ${what.slice(0, 60).toWellFormed()}`;
}

/** Reads a model's answer, which is one line. Undefined when it is not an answer. */
export function readModelAnswer(text: string): HookAnswer | undefined {
  const [, word, reason] = /^\s*(ALLOW|ASK|DENY)\b[\s:.]*([^]*)/i.exec(text) ?? [];
  if (word === undefined) return undefined;
  // "ALLOW or DENY? DENY." does not allow.
  if (/^ALLOW$/i.test(word) && /\b(?:ASK|DENY)\b/.test(reason ?? '')) return undefined;
  const decision = word.toLowerCase() as HookAnswer['decision'];
  return { decision, reason: reason?.trim().slice(0, HOOK_LIMITS.reason).toWellFormed() || undefined };
}
