/** How a tool is written: one file with one `defineTool`. The catalog reads the folder; a new tool changes nothing else. */
import type { ShellVerdict } from '@tempoclaw/shell-judge';
import { z } from 'zod';
import type { ToolDialect } from '#domain/agent.ts';
import type { RunFiles } from '#domain/bound-file.ts';
import type { DocumentAccess } from '#domain/document.ts';
import type { FileOrigins } from '#domain/file-origins.ts';
import type { CallOutside } from '#domain/pending-call.ts';
import type { SubagentContext } from '#domain/subagent.ts';
import type { TeamContext } from '#domain/team.ts';
import type { UrlRules } from '@tempoclaw/egress/rules';
import type { EffectiveExec } from '#domain/policy/effective-exec.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { CUSTOM_GROUP, MCP_GROUP, ToolGroup } from '#domain/policy/tool-groups.ts';
import type { OfferedTool } from '#domain/model.ts';
import type { Thinking } from '#domain/thinking.ts';
import type { Sandbox } from '#domain/sandbox.ts';
import type { CallContext, Duration, ReplayClass, ToolResult } from '#domain/tool.ts';

export interface ToolLimits {
  readonly duration: Duration;
  /** Only looks, takes some milliseconds and asks nothing of the ledger: may run before its answer is recorded. */
  readonly instant?: true;
  /** Takes long or costs money: a call of it reserves its part of the budgets (DU-7). Not for tools that only read. */
  readonly costly?: true;
  /** Long, and yet a call of it mostly ends immediately: it may begin within the workflow task. */
  readonly inline?: true;
  /** Start-to-close of one attempt. A function when the arguments may ask for more. */
  readonly timeoutSeconds: number | ((input: never, exec: { readonly timeoutSeconds: number }) => number);
}

/** Another name that is understood, by models and in policies; shown only where a form has it. */
export interface ToolAlias {
  /** From the alias's arguments to the canonical ones. */
  readonly toCanonical?: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

/** The tool as another system has it: what its models are shown (`tool_names`). */
export interface ToolForm {
  /** One of the aliases, or what another tool is called elsewhere: then it is understood in this dialect alone, and not in policies. */
  readonly name?: string;
  readonly description?: string;
  /** Shown to the model in place of the canonical schema. */
  readonly input?: z.ZodType;
  /** From the form's arguments to the canonical ones, in this dialect alone. */
  readonly toCanonical?: ToolAlias['toCanonical'];
}

/** A call of another tool. */
export interface Redirect {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What the running call may use beside its dependencies. */
export interface RunningCall extends CallContext {
  /** The name that the model used: `exec_shell` has another default time-out than `exec`. */
  readonly calledAs: string;
  /** Aborted when the turn is stopped, the time is up or the worker shuts down. */
  readonly signal: AbortSignal;
  /** Stable over retries; for outside services that take an idempotency key (DU-2). */
  readonly idempotencyKey: string;
  /** A line for the event feed, at most a few a second. Never throws. */
  readonly progress: (text: string) => void;
  /** What it has at a server that outlives the attempt; absent where none may be left. */
  readonly outside?: CallOutside;
  /** Where it may go over HTTP. */
  readonly egress: UrlRules;
  /** Whether the text has parts that neither the model nor people are shown. */
  readonly hasSecret: (text: string) => boolean;
  /** Default time of commands for this agent (`exec.timeout_seconds`), on the host and in a box. */
  readonly exec: { readonly timeoutSeconds: number; readonly boxTimeoutSeconds: number };
  /** The box that its commands belong in (SH-3); absent when they run on the host. */
  readonly sandbox?: Sandbox;
  /** Another path of the workspace: where a box shows it. */
  readonly mount?: string;
  /** The folder that a new workspace begins as a copy of. */
  readonly workspaceFrom?: string | undefined;
  /** Context files and memory that stand in the workspace (VF-1). */
  readonly documents?: DocumentAccess;
  /** Present when the caller is a subagent. */
  readonly subagent?: SubagentContext;
  /** Present when the caller works on a team's task. */
  readonly team?: TeamContext;
  /** Gates judge the answer of the turn, which is its task's result. */
  readonly isTaskJudged?: true;
  /** Scopes of the key behind the turn (DE-1). */
  readonly roles: readonly string[];
  /** Id of the key behind the turn; none when another than our API spoke. */
  readonly key?: string | undefined;
  /** How much the caller's model thinks; undefined: as its provider likes. */
  readonly thinking: Thinking | undefined;
  /** What the session has read from outside, also by other sessions that spoke to it (PO-5). */
  readonly readOutside: UsedTools;
  /** Who is told which files the call reads and writes. */
  readonly origins?: FileOrigins;
  /** Names of the tools that the caller has: the `within` of a child that it starts (SA-4). */
  readonly offeredTools: () => Promise<readonly string[]>;
  /** The same tools as the model is shown them, but for the one that searches. */
  readonly findableTools: () => Promise<readonly FindableTool[]>;
}

/** `isOfServer`: of an MCP server, so that its words are others'. */
export interface FindableTool extends OfferedTool {
  readonly isOfServer: boolean;
  readonly keywords?: string | undefined;
}

/** `Needs`: what it uses of the world. */
export interface ToolSpec<Input, Needs> {
  readonly name: string;
  /** For the model: what it does, when to use it. */
  readonly description: string;
  /** Other words for what it does and works on, by which `tool_search` finds it. No model is shown them. */
  readonly keywords?: string;
  readonly group: ToolGroup | typeof CUSTOM_GROUP | typeof MCP_GROUP;
  /** Needed in many turns: a prompt describes it, however many tools the agent has (policy/deferred-tools.ts). */
  readonly common?: true;
  /** Of a tool of an MCP server. `isInternal`: it has nothing from outside. */
  readonly mcp?: { readonly server: string; readonly isInternal: boolean };
  /** Why the agent may not call it for the user, whatever the policy says; undefined when it may. */
  readonly accessProblem?: (agent: string, user: string | null) => string | undefined;
  readonly replay: ReplayClass;
  /** Its calls may go on outside beyond an attempt (domain/pending-call.ts). */
  readonly mayContinueOutside?: true;
  /** Calls that only look, of a tool that also does things: they are `readonly`. Policies take the tool for one that does things. */
  readonly onlyReads?: (args: Readonly<Record<string, unknown>>) => boolean;
  /** What it gives came from outside, and is marked as such (domain/outside-text.ts). */
  readonly outside?: true;
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
  readonly forms?: Readonly<Partial<Record<Exclude<ToolDialect, 'canonical'>, ToolForm>>>;
  /** Calls that another tool is for, by these canonical arguments: judged, recorded and run as that one's. */
  readonly redirect?: (args: Readonly<Record<string, unknown>>) => Redirect | undefined;
  /** Of a tool that is a row and may change: what is judged, approved and recorded is bound to this revision of it. */
  readonly definition?: { readonly id: string; readonly revision: number };
  /** Why it cannot run any more. */
  readonly gone?: string;
  /** The verdict on the command that canonical arguments make, for tools that are one. */
  readonly judge?: (
    args: Readonly<Record<string, unknown>>,
    exec: EffectiveExec & { readonly deniedPaths: readonly string[] },
  ) => ShellVerdict;
  /** Which files of the workspace a call with these canonical arguments runs or hands on. */
  readonly runsFiles?: (args: Readonly<Record<string, unknown>>) => RunFiles;
  /** The queue of the worker that alone has what a call is for; undefined: this one can run it. `here`: that one has not taken it. */
  readonly elsewhere?: (
    deps: Needs,
    call: { readonly tenant: string; readonly call: string; readonly here?: true },
  ) => Promise<string | undefined>;
  /** Must run after the calls before it in the same answer. */
  readonly serial?: boolean;
  readonly run: (deps: Needs, input: Input, call: RunningCall) => Promise<ToolResult>;
  /** Of class `verify`: what became of an attempt that was lost; undefined when it has done nothing, and the call is run. */
  readonly probe?: (deps: Needs, input: Input, call: RunningCall) => Promise<ToolResult | undefined>;
}

/** A tool as the catalog holds it, the types of its input and needs forgotten. */
export type Tool = ToolSpec<unknown, object>;

/** The class of one call. */
export function replayOf(tool: Tool, args: Readonly<Record<string, unknown>>): ReplayClass {
  return tool.onlyReads?.(args) ? 'readonly' : tool.replay;
}

export function defineTool<Input, Needs extends object = object>(spec: ToolSpec<Input, Needs>): Tool {
  return spec as unknown as Tool;
}

/** A field of a tool's input: a text of at most so many UTF-16 units, and what the model reads about it. */
export function textField(max: number, words: string): z.ZodString {
  return z.string().max(max).describe(words);
}
