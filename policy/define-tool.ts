/**
 * How a tool is written: one file with one `defineTool`. The catalog reads the folder, so a new tool changes nothing
 * else.
 */
import type { ShellVerdict } from '@tempoclaw/shell-judge';
import { z } from 'zod';
import type { ToolDialect } from '#domain/agent.ts';
import type { RunFiles } from '#domain/approval/bound-file.ts';
import type { DocumentAccess } from '#domain/files/document.ts';
import type { FileOrigins } from '#domain/files/file-origins.ts';
import type { SubagentContext } from '#domain/assignment/subagent.ts';
import type { TeamContext } from '#domain/team/team.ts';
import type { UrlRules } from '@tempoclaw/egress/rules';
import type { EffectiveExec } from '#domain/policy/effective-exec.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type {
  CLIENT_GROUP,
  CUSTOM_GROUP,
  GUARDED_GROUP,
  MCP_GROUP,
  ToolGroup,
} from '#domain/policy/tool-groups.ts';
import type { OfferedTool } from '#domain/model/model.ts';
import type { Thinking } from '#domain/model/thinking.ts';
import type { Sandbox } from '#domain/sandbox.ts';
import type { CallContext, CallOutside, Duration, ReplayClass, ToolResult } from '#domain/tool.ts';
import type { ForkContext } from '#domain/turn/turn.ts';

export interface ToolLimits {
  readonly duration: Duration;
  /** It only reads, takes some milliseconds and does not use the ledger: it may run before its answer is recorded. */
  readonly instant?: true;
  /** It takes long or costs money: each call reserves its part of the budgets (DU-7). Not for tools that only read. */
  readonly costly?: true;
  /** A long tool whose calls usually end immediately: a call may start within the workflow task. */
  readonly inline?: true;
  /** Start-to-close timeout of one attempt. A function when the arguments may request more. */
  readonly timeoutSeconds: number | ((input: never, exec: { readonly timeoutSeconds: number }) => number);
}

/** Another name that models and policies may use; it is shown only when a form has it. */
export interface ToolAlias {
  /** Converts the alias's arguments to the canonical ones. */
  readonly toCanonical?: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

/** The tool in the form of another system, as its models see it (`tool_names`). */
export interface ToolForm {
  /**
   * One of the aliases, or the name of another tool elsewhere: then it is accepted only in this dialect, and not in
   * policies.
   */
  readonly name?: string;
  readonly description?: string;
  /** The schema that the model sees in place of the canonical one. */
  readonly input?: z.ZodType;
  /** Converts the form's arguments to the canonical ones, only in this dialect. */
  readonly toCanonical?: ToolAlias['toCanonical'];
}

/** A call of another tool. */
export interface Redirect {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A call that has run, as its reversal sees it. */
export interface MadeCall {
  readonly id: string;
  /** What the model read. */
  readonly result: string;
  /** It failed or was lost, so whether it took effect is not known. */
  readonly isUncertain: boolean;
}

/** What the running call may use besides its dependencies. */
export interface RunningCall extends CallContext {
  /** The name that the model used: `exec_shell` has another default timeout than `exec`. */
  readonly calledAs: string;
  /** Aborted when the turn is stopped, the time is up or the worker shuts down. */
  readonly signal: AbortSignal;
  /** The same for all retries; for services that accept an idempotency key (DU-2). */
  readonly idempotencyKey: string;
  /** Writes a line to the event feed, at most a few per second. Never throws. */
  readonly progress: (text: string) => void;
  /** State at a server that outlives the attempt; absent when none is permitted. */
  readonly outside?: CallOutside;
  /** Where it may connect over HTTP. */
  readonly egress: UrlRules;
  /** Whether the text contains secrets, which neither the model nor people may see. */
  readonly hasSecret: (text: string) => boolean;
  /** Default timeout of commands for this agent (`exec.timeout_seconds`), on the host and in a sandbox. */
  readonly exec: { readonly timeoutSeconds: number; readonly boxTimeoutSeconds: number };
  /** The sandbox that its commands run in (SH-3); absent when they run on the host. */
  readonly sandbox?: Sandbox;
  /** The path of the workspace in a sandbox, when it differs. */
  readonly mount?: string;
  /** The folder that a new workspace is copied from. */
  readonly workspaceFrom?: string | undefined;
  /** Context files and memory that appear in the workspace (VF-1). */
  readonly documents?: DocumentAccess;
  /** Present when the caller is a subagent. */
  readonly subagent?: SubagentContext;
  /** Present in a fork and in the work that it gives away. */
  readonly fork?: ForkContext | undefined;
  /** Present when the caller works on a team's task. */
  readonly team?: TeamContext;
  /** Gates judge the answer of the turn, which is its task's result. */
  readonly isTaskJudged?: true;
  /** Scopes of the key that started the turn (DE-1). */
  readonly roles: readonly string[];
  /** Id of the key that started the turn; absent when another client than our API did. */
  readonly key?: string | undefined;
  /** Thinking level of the caller's model; undefined means its provider's default. */
  readonly thinking: Thinking | undefined;
  /** What the session has read from outside, including what it read through other sessions (PO-5). */
  readonly readOutside: UsedTools;
  /** Records which files the call reads and writes. */
  readonly origins?: FileOrigins;
  /** Names of the tools that the caller has: the `within` of a child that it starts (SA-4). */
  readonly offeredTools: () => Promise<readonly string[]>;
  /** The same tools as the model sees them, except the one that searches. */
  readonly findableTools: () => Promise<readonly FindableTool[]>;
}

/** `isOfServer`: it belongs to an MCP server, so its texts come from others. */
export interface FindableTool extends OfferedTool {
  readonly isOfServer: boolean;
  readonly keywords?: string | undefined;
}

/** `Needs`: its dependencies. */
export interface ToolSpec<Input, Needs> {
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** Other words for what it does and works on, by which `tool_search` finds it. Models do not see them. */
  readonly keywords?: string;
  readonly group:
    | ToolGroup
    | typeof CUSTOM_GROUP
    | typeof CLIENT_GROUP
    | typeof GUARDED_GROUP
    | typeof MCP_GROUP;
  /** Many turns need it: a prompt describes it, however many tools the agent has (policy/deferred-tools.ts). */
  readonly common?: true;
  /** For a tool of an MCP server. `isInternal`: it returns nothing from outside. */
  readonly mcp?: { readonly server: string; readonly isInternal: boolean };
  /** Says why the agent may not call it for the user, whatever the policy says; undefined when it may. */
  readonly accessProblem?: (agent: string, user: string | null) => string | undefined;
  readonly replay: ReplayClass;
  /** Its calls may continue outside after an attempt (domain/turn/pending-call.ts). */
  readonly mayContinueOutside?: true;
  /** Its calls may wait for a login of their user (activities/tool-call/missing-login.ts). */
  readonly mayNeedLogin?: true;
  /**
   * Whether a call only reads, for a tool that also changes things: such calls are `readonly`. Policies treat the tool
   * as one that changes things.
   */
  readonly onlyReads?: (args: Readonly<Record<string, unknown>>) => boolean;
  /** Why people decide about each call, unless a rule or an earlier decision allows it. */
  readonly asks?: string;
  /** Its results come from outside, and are marked (domain/text/outside-text.ts). */
  readonly outside?: true;
  readonly input: z.ZodType<Input>;
  readonly limits: ToolLimits;
  /** The argument, if any, that represents the call in one line; `command` for exec. */
  readonly summary?: (input: Input) => string;
  /** Other accepted names of parameters (`old_text` for `old_string`). */
  readonly parameterAliases?: Readonly<Record<string, string>>;
  /** Parameters of other systems that have no effect here; they are accepted and dropped. */
  readonly ignoredParameters?: readonly string[];
  /** Parameters of other systems that must not be ignored, with the text of the refusal. */
  readonly refusedParameters?: Readonly<Record<string, string>>;
  readonly aliases?: Readonly<Record<string, ToolAlias>>;
  readonly forms?: Readonly<Partial<Record<Exclude<ToolDialect, 'canonical'>, ToolForm>>>;
  /**
   * Maps calls that another tool should run, by these canonical arguments: they are judged, recorded and run as calls
   * of that tool.
   */
  readonly redirect?: (args: Readonly<Record<string, unknown>>) => Redirect | undefined;
  /** For a tool that is a row and may change: what is judged, approved and recorded is bound to this revision. */
  readonly definition?: { readonly id: string; readonly revision: number };
  /** Why it can no longer run. */
  readonly gone?: string;
  /**
   * The call that reverses one with these canonical arguments (DU-9). It is judged, approved and recorded like any
   * other, perhaps days later, so it refuses by itself what has changed since. Undefined when the call cannot be
   * reversed.
   */
  readonly inverse?: (args: Readonly<Record<string, unknown>>, made: MadeCall) => Redirect | undefined;
  /**
   * It reverses calls of another tool: only an undo calls it, so it is offered to nobody. Its argument `call` is the id of
   * the call that it reverses.
   */
  readonly isReversal?: true;
  /** The verdict on the command that canonical arguments produce, for tools that run one. */
  readonly judge?: (
    args: Readonly<Record<string, unknown>>,
    exec: EffectiveExec & { readonly deniedPaths: readonly string[] },
  ) => ShellVerdict;
  /** Which files of the workspace a call with these canonical arguments runs or passes on. */
  readonly runsFiles?: (args: Readonly<Record<string, unknown>>) => RunFiles;
  /**
   * The queue of the only worker that has the state of a call; undefined when this worker can run it. `here`: that
   * worker did not accept it.
   */
  readonly elsewhere?: (
    deps: Needs,
    call: { readonly tenant: string; readonly call: string; readonly here?: true },
  ) => Promise<string | undefined>;
  /** It must run after the earlier calls of the same answer. */
  readonly serial?: boolean;
  readonly run: (deps: Needs, input: Input, call: RunningCall) => Promise<ToolResult>;
  /**
   * For class `verify`: the outcome of a lost attempt; undefined when it has done nothing, and then the call is run.
   */
  readonly probe?: (deps: Needs, input: Input, call: RunningCall) => Promise<ToolResult | undefined>;
}

/** A tool in the catalog, without the types of its input and needs. */
export type Tool = ToolSpec<unknown, object>;

/** The replay class of one call. */
export function replayOf(tool: Tool, args: Readonly<Record<string, unknown>>): ReplayClass {
  return tool.onlyReads?.(args) ? 'readonly' : tool.replay;
}

export function defineTool<Input, Needs extends object = object>(spec: ToolSpec<Input, Needs>): Tool {
  return spec as unknown as Tool;
}

/** A field of a tool's input: a text of at most `max` UTF-16 units, with its description for the model. */
export function textField(max: number, words: string): z.ZodString {
  return z.string().max(max).describe(words);
}
