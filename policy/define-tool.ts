/** How a tool is written: one file with one `defineTool`. The catalog reads the folder; a new tool changes nothing else. */
import type { z } from 'zod';
import type { RunFiles } from '#domain/bound-file.ts';
import type { SubagentContext } from '#domain/subagent.ts';
import type { TeamContext } from '#domain/team.ts';
import type { EffectiveExec } from '#domain/policy/effective-exec.ts';
import type { CUSTOM_GROUP, ToolGroup } from '#domain/policy/tool-groups.ts';
import type { ShellVerdict } from '#domain/shell/judge-command.ts';
import type { Thinking } from '#domain/thinking.ts';
import type { Sandbox } from '#domain/sandbox.ts';
import type { CallContext, Duration, ReplayClass, ToolResult } from '#domain/tool.ts';

export interface ToolLimits {
  readonly duration: Duration;
  /** Only looks, takes some milliseconds and asks nothing of the ledger: may run before its answer is recorded (read-ahead.ts). */
  readonly instant?: true;
  /** Takes long or costs money: a call of it reserves its part of the budgets (DU-7). Not for tools that only read. */
  readonly costly?: true;
  /**
   * Whether such a call, though it does something, needs no claim, as one that only reads: what it does is one commit that is of the
   * call, is done once however often it is tried, and refuses a turn that is over.
   */
  readonly unclaimed?: (args: Readonly<Record<string, unknown>>) => boolean;
  /** Long, and yet mostly over at once: may begin within the workflow task (activities/fast-path/). */
  readonly inline?: true;
  /** Start-to-close of one attempt. A function when the arguments may ask for more. */
  readonly timeoutSeconds: number | ((input: never, exec: { readonly timeoutSeconds: number }) => number);
}

/** Another name a model may use for the tool, with its own parameters when they differ. */
export interface ToolAlias {
  readonly dialect: 'goclaw' | 'clawft';
  readonly description?: string;
  /** Shown to the model in place of the canonical schema. */
  readonly input?: z.ZodType;
  /** From the alias's arguments to the canonical ones. */
  readonly toCanonical?: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

/** What the running call may use beside its dependencies. */
export interface RunningCall extends CallContext {
  /** The name that the model used: `exec_shell` has another default time-out than `exec`. */
  readonly askedAs: string;
  /** Aborted when the turn is stopped, the time is up or the worker shuts down. */
  readonly signal: AbortSignal;
  /** Stable over retries; for outside services that take an idempotency key (DU-2). */
  readonly idempotencyKey: string;
  /** A line for the event feed, at most a few a second. Never throws. */
  readonly progress: (text: string) => void;
  /** Whether the text has parts that neither the model nor people are shown. */
  readonly hasSecret: (text: string) => boolean;
  /** Default time of commands for this agent (`exec.timeout_seconds`), on the host and in a box. */
  readonly exec: { readonly timeoutSeconds: number; readonly boxTimeoutSeconds: number };
  /** The box that its commands belong in (SH-3); absent when they run on the host. */
  readonly sandbox?: Sandbox;
  /** Another path of the workspace: where a box shows it. */
  readonly mount?: string;
  /** Present when the caller is a subagent. */
  readonly subagent?: SubagentContext;
  /** Present when the caller works on a team's task. */
  readonly team?: TeamContext;
  /** Gates judge the answer of the turn, which is its task's result. */
  readonly isTaskJudged?: true;
  /** Scopes of the key behind the turn (DE-1). */
  readonly roles: readonly string[];
  /** How much the caller's model thinks; undefined: as its provider likes. */
  readonly thinking: Thinking | undefined;
  /** Names of the tools that the caller has: the `within` of a child that it starts (SA-4). */
  readonly offeredTools: () => Promise<readonly string[]>;
}

/** `Needs`: what it uses of the world. */
export interface ToolSpec<Input, Needs> {
  readonly name: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  readonly group: ToolGroup | typeof CUSTOM_GROUP;
  readonly replay: ReplayClass;
  readonly input: z.ZodType<Input>;
  readonly limits: ToolLimits;
  /** Which of its arguments, if any, stands for the call in one line; `command` for exec. */
  readonly summary?: (input: Input) => string;
  /** Other names of parameters that are understood (`old_text` for `old_string`). */
  readonly parameterAliases?: Readonly<Record<string, string>>;
  /** Parameters of other systems that are understood and have no effect here; accepted and dropped. */
  readonly ignoredParameters?: readonly string[];
  /** Parameters of other systems that must not be taken for understood, with the words that refuse them. */
  readonly refusedParameters?: Readonly<Record<string, string>>;
  readonly aliases?: Readonly<Record<string, ToolAlias>>;
  /** Of a tool that is a row and may change: what is judged, approved and recorded is bound to this revision of it. */
  readonly definition?: { readonly id: string; readonly revision: number };
  /** Why it cannot run any more. */
  readonly gone?: string;
  /** The verdict on the command that canonical arguments make, for tools that are one. */
  readonly judge?: (args: Readonly<Record<string, unknown>>, exec: EffectiveExec) => ShellVerdict;
  /** Which files of the workspace a call with these canonical arguments runs or hands on. */
  readonly runsFiles?: (args: Readonly<Record<string, unknown>>) => RunFiles;
  /** Must run after the calls before it in the same answer. */
  readonly serial?: boolean;
  readonly run: (deps: Needs, input: Input, call: RunningCall) => Promise<ToolResult>;
}

/** A tool as the catalog holds it, the types of its input and needs forgotten. */
export type Tool = ToolSpec<unknown, object>;

export function defineTool<Input, Needs extends object = object>(spec: ToolSpec<Input, Needs>): Tool {
  return spec as unknown as Tool;
}
