/** Tools, each the default export of a file in `tools/`; the file's name is the tool's. */
import type { z } from 'zod';

/**
 * What a second run would do, which decides what happens after a crash (DU-2). `read`: nothing. `idempotent`: the same
 * effect, such as a PUT, or a request that passes on `context.idempotencyKey`. `once`: harm; it is never run again
 * unless `probe` says that it has not happened.
 */
export type Replay = 'read' | 'idempotent' | 'once';

/** One call of a tool. */
export interface ToolContext {
  /** Aborted when the turn is stopped, the time is over or this program ends. */
  readonly signal: AbortSignal;
  /** The same in every run of the same call, and in its probes. */
  readonly idempotencyKey: string;
  /** Values of the secrets that the tool names. They are hidden in what it returns. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Who calls: the agent, its user, and where. */
  readonly agent: string;
  readonly user: string | null;
  readonly session: string;
  readonly turn: string;
  readonly call: string;
}

export interface ToolSpec<Input extends z.ZodType> {
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** An object of zod; models see it as JSON Schema. Arguments that do not match never reach `run`. */
  readonly input: Input;
  readonly replay: Replay;
  /** People decide about each call, unless a policy or an earlier decision allows it. */
  readonly approval?: boolean;
  /** What it returns comes from others, such as a web page: models see it marked as untrusted. */
  readonly outside?: boolean;
  /** Names of secrets of the tenant (`tempoclaw secrets set NAME`) that it may use. */
  readonly secrets?: readonly string[];
  /** Seconds that one run may take; at most 86,400. 60 by default. */
  readonly timeout?: number;
  /**
   * Returns a text, or a value that the model reads as JSON, of at most 500,000 characters; or a promise of it. A thrown
   * error is a result that the model reads.
   */
  readonly run: (input: z.output<Input>, context: ToolContext) => unknown;
  /**
   * For `once`: called after a crash, to find out whether the call took effect. Returns what `run` would have returned,
   * or undefined when nothing has happened; then the call runs again. It must not change anything.
   */
  readonly probe?: (input: z.output<Input>, context: ToolContext) => unknown;
  /**
   * Reverses a call that has taken effect. It is a tool of its own, `undo_NAME`, that only `tempoclaw undo TURN` calls; rules
   * and approvals apply to it as to this one, and its second run would do the same as this one's.
   */
  readonly undo?: (input: z.output<Input>, context: UndoContext) => unknown;
}

/** A call that is reversed; `call` and `idempotencyKey` are those of the reversal. */
export interface UndoContext extends ToolContext {
  /** The id of the call, and the key that it had. */
  readonly undoes: { readonly call: string; readonly idempotencyKey: string };
  /** What `run` or `probe` returned, as models read it. */
  readonly result: string;
}

/** Marks what `tool` has made, whichever copy of this module made it. */
export const CODE_TOOL = Symbol.for('tempoclaw.tool');

export type CodeTool = ToolSpec<z.ZodType> & {
  readonly [CODE_TOOL]: true;
  /** JSON Schema of its arguments, where `input` does not have it. */
  readonly parameters?: Readonly<Record<string, unknown>>;
};

/** Marks a default export that makes several tools. */
export const CODE_TOOLS = Symbol.for('tempoclaw.tools');

export interface CodeTools {
  readonly [CODE_TOOLS]: () => Promise<MadeTools>;
}

export interface MadeTools {
  /** The tools by their names, which the file's name precedes. */
  readonly tools: ReadonlyMap<string, CodeTool>;
  /** What they were made from, besides the file: a change of it changes the tools. */
  readonly source: string;
}

/** Defines a tool, with the types of its arguments. */
export function tool<Input extends z.ZodType>(spec: ToolSpec<Input>): CodeTool {
  return { ...spec, [CODE_TOOL]: true } as unknown as CodeTool;
}
