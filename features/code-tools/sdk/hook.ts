/** Hooks, each the default export of a file in `hooks/`; the file's name is the hook's. */

/** What the event of every hook says. */
interface HookOccasion<Event extends HookEvent> {
  readonly event: Event;
  readonly tenant: string;
  readonly session_key: string;
  readonly turn_id: string;
  readonly agent: string;
  readonly user: string | null;
}

/** A call that the rules allow or ask about. */
export interface CallOccasion<Event extends HookEvent> extends HookOccasion<Event> {
  readonly tool: string;
  /** Its arguments, which the model has written. */
  readonly input: Readonly<Record<string, unknown>>;
}

export interface PromptOccasion<Event extends HookEvent> extends HookOccasion<Event> {
  readonly prompt: string;
}

export interface HookOccasions {
  readonly session_start: PromptOccasion<'session_start'>;
  readonly user_prompt_submit: PromptOccasion<'user_prompt_submit'>;
  readonly pre_tool_use: CallOccasion<'pre_tool_use'>;
  readonly subagent_start: CallOccasion<'subagent_start'>;
}

export type HookEvent = keyof HookOccasions;

/** Without a decision it allows. */
export interface HookDecision {
  /** For a prompt, `ask` denies. */
  readonly decision?: 'allow' | 'ask' | 'deny';
  /** Why: people and the model read it. At most 2,000 characters. */
  readonly reason?: string;
  /** Replaces the arguments of the call, which is then judged anew. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Replaces the text of the prompt. */
  readonly prompt?: string;
}

export interface HookContext {
  /** Aborted when the time is over, the turn is stopped or this program ends. */
  readonly signal: AbortSignal;
  /** Values of the secrets that the hook names. They are hidden in its reasons. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface HookSpec<Event extends HookEvent> {
  readonly event: Event;
  /** For calls: names, globs or groups of tools, as in rules. All tools by default. */
  readonly tools?: readonly string[];
  /** Agents of the folder. All of them by default. */
  readonly agents?: readonly string[];
  /** Names of secrets of the tenant (`tempoclaw secrets set NAME`) that it may use. */
  readonly secrets?: readonly string[];
  /** Seconds that it may take; at most 10. 5 by default. */
  readonly timeout?: number;
  /** Returns its decision, or nothing to allow. It may run twice for the same call. A thrown error denies. */
  readonly run: (
    occasion: HookOccasions[Event],
    context: HookContext,
  ) => HookDecision | undefined | void | Promise<HookDecision | undefined | void>;
}

/** Marks what `hook` has made, whichever copy of this module made it. */
export const CODE_HOOK = Symbol.for('tempoclaw.hook');

export type CodeHook = Omit<HookSpec<HookEvent>, 'run'> & {
  readonly [CODE_HOOK]: true;
  readonly run: (occasion: unknown, context: HookContext) => unknown;
};

/** Defines a hook, with the types of what it is about. */
export function hook<Event extends HookEvent>(spec: HookSpec<Event>): CodeHook {
  return { ...spec, [CODE_HOOK]: true } as unknown as CodeHook;
}
