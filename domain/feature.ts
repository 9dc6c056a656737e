/**
 * Where an optional capability joins the core: every extension point, with its type. A feature is a folder below features/, and its manifest
 * says which parts it brings. Each part is a module that is loaded by the process that needs it, so a manifest imports nothing but types.
 */
import type { CommandGroup, CommandModule, SharedOption } from '#cli/commands.ts';
import type { AgentConfig } from './agent.ts';
import type { DocumentScope } from './document.ts';
import type { Resource } from './resource/define-resource.ts';
import type { ApiCore } from '#api/api-parts.ts';
import type { FeatureDeps, RouteModule } from '#api/deps.ts';
import type { RunningCall, Tool } from '#policy/define-tool.ts';
import type { StepBasis } from '#store/step-basis.ts';
import type { Pool } from '#store/pool.ts';
import type { RowPart } from '#store/row-parts.ts';
import type { Guard } from '#activities/guards.ts';
import type { Workspaces } from '#activities/workspace/workspaces.ts';
import type { Config } from '#config';
import type { SettingsSection } from '#config/section.ts';
import type { MessageContext, RunToolInput } from './turn.ts';
import type { WorkerCore } from '#workers/worker-core.ts';

/** Imports a module when it is needed. */
export type Load<Module> = () => Promise<Module>;

export interface Feature {
  /** The name of its folder. */
  readonly name: string;
  /** What it lets agents or people do, in one line. */
  readonly summary: string;
  /** Other features that it builds on, by name: without one of them it is not there either. */
  readonly needs?: readonly string[];
  /** A folder of numbered SQL files that make its tables. It ends with a slash. */
  readonly migrations?: URL;
  /** Its sections of the settings. */
  readonly settings?: readonly SettingsSection[];
  /** Tools of agents, a file each. The name of a file is that of its tool. */
  readonly tools?: readonly Load<{ readonly tool: Tool }>[];
  /** Tools that tenants add at run time, for catalogs. Whoever changes them raises the version of the tenant's tools. */
  readonly addedTools?: Load<AddedToolsModule>;
  /** What the core's own rows must know of its rows. */
  readonly rows?: Load<{ readonly rowPart: RowPart }>;
  /** Where workspaces are, in place of folders on the worker's machine. */
  readonly workspaces?: Load<WorkspacesModule>;
  /** What it makes in the API. */
  readonly api?: Load<ApiModule>;
  /** What it makes in a worker. */
  readonly worker?: Load<WorkerModule>;
  /** Files whose exports are workflow types. They import types alone, but for contracts, rules and the workflows' own steps. */
  readonly workflows?: readonly URL[];
  /** Routes of the API, in the order of the OpenAPI document. */
  readonly routes?: readonly Load<RouteModule>[];
  /** Commands of the CLI. */
  readonly commands?: readonly FeatureCommand[];
  /** What stands below another command, by its name. */
  readonly subcommands?: Readonly<Record<string, Load<CommandModule>>>;
}

export interface ApiModule {
  /** Called once, when the API starts. */
  createApiPart(core: ApiCore): ApiPart;
}

/** What a feature makes in the API. */
export interface ApiPart {
  /** What its routes need, as it has declared it in FeatureDeps (api/deps.ts). */
  readonly deps?: Partial<FeatureDeps>;
  /** Called when the database is there, before the API listens. Safe to repeat, also by several processes at once. */
  start?(): Promise<void>;
  /** Called for each message before it is kept. Gives its context as it is to be. @throws Failure for one that may not be sent */
  admitMessage?(tenant: string, message: MessageToAdmit): Promise<MessageContext>;
  readonly documentWritten?: DocumentWritten;
}

export interface MessageToAdmit {
  readonly session: string;
  readonly context: MessageContext;
  /** The user whose key it is, which reaches nobody else's sessions; null or undefined: any. */
  readonly confinedTo?: string | null | undefined;
}

/** Called after the commit of each change of a document, whoever made it. What is lost with the process must be found again later. */
export type DocumentWritten = (scope: DocumentScope, path: string, isRemoved: boolean) => Promise<void>;

export interface WorkspacesModule {
  /** `folders` are those on this machine. Undefined when the settings leave it at these. */
  createWorkspaces(folders: Workspaces, parts: WorkspaceParts): Workspaces | undefined;
}

export interface WorkspaceParts {
  readonly config: Config;
  readonly pool: Pool;
  /** Opens `secret://NAME` of a setting. */
  resolveSetting(text: string): Promise<string>;
  /** Gets what goes wrong in the background. */
  onError(error: unknown): void;
}

/** Points at which features extend another feature, by name: the one that has the point declares it by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by the features
export interface FeaturePoints {}

export interface WorkerModule {
  /** Called once, when the worker starts. */
  createWorkerPart(core: WorkerCore): WorkerPart | Promise<WorkerPart>;
}

/** What a feature makes in a worker. */
export interface WorkerPart {
  /** What it adds to other features. */
  readonly extends?: Partial<FeaturePoints>;
  /** What its tools need, each by the name by which they ask for it. */
  readonly tools?: Readonly<Record<string, unknown>>;
  /** Tools that tenants add at run time, for the calls that were planned with one. */
  readonly addedTools?: AddedTools;
  /** What stands around prompts, calls and commands. */
  readonly guard?: Guard;
  /** Activities of its workflows, by the names of their types. */
  readonly activities?: Readonly<Record<string, (input: never) => Promise<unknown>>>;
  readonly documentWritten?: DocumentWritten;
  /** A piece of the system prompt, made for each step: it costs no query while nothing has changed. */
  promptPiece?(step: PromptStep): Promise<PromptPiece | undefined>;
  /** Called before the summary of a conversation is recorded, which happens once; the turn waits for it. */
  summarized?(session: SummarizedSession, summary: string): Promise<void>;
  /** Starts what was lost; called each minute, safe to repeat and beside itself. Returns how many it has found. */
  recover?(): Promise<number>;
  readonly forget?: ForgetPart;
  /** Ends what runs here for a session; called when the session's last turn has ended. Safe to repeat. */
  endSession?(tenant: string, session: string): Promise<void>;
  /** Whether anything that a tenant has joined by it is a client of this Temporal, and could decide approvals by itself. */
  hasTemporalClients?(): Promise<boolean>;
  /** Called when the worker has drained. */
  close?(): Promise<void>;
}

/** A tool that a tenant has added, of one agent or (null) of all. */
export interface AddedTool {
  readonly agent: string | null;
  readonly tool: Tool;
}

export interface AddedToolsModule {
  /** All that are enabled. `onError` gets a definition that cannot be used: no other tool suffers from it. */
  listAddedTools(
    pool: Pool,
    tenant: string,
    onError: (error: unknown) => void,
  ): Promise<readonly AddedTool[]>;
}

export interface AddedTools {
  /** Whether a tool of this name is most likely one of these, which are looked through first. */
  isLikely(name: string): boolean;
  /** As it is now. Undefined when the call is of none of these; `isGone` when it can be another feature's. */
  find(input: RunToolInput): Promise<{ readonly tool: Tool; readonly isGone: boolean } | undefined>;
}

/** A step whose prompt is made. */
export interface PromptStep extends Pick<StepBasis, 'user' | 'context' | 'documents' | 'tools_version'> {
  readonly tenant: string;
  readonly session: string;
  readonly agent: AgentConfig;
  /** The names of the tools that the rules offer. */
  readonly offered: readonly string[];
}

export interface PromptPiece {
  readonly text?: string | undefined;
  /** Tools that this step has no use for, by name. */
  readonly unneeded?: readonly string[];
}

/** A conversation that was shortened. */
export interface SummarizedSession extends Pick<RunningCall, 'tenant' | 'agent' | 'user' | 'readOutside'> {
  readonly session: string;
  readonly turn: string;
}

/** Removes what is neither a row of the session nor of the user. */
export interface ForgetPart {
  /** Its line in the receipt. */
  readonly counted: string;
  /** Of a user, or of a session; all is gone when it resolves. Safe to repeat. Returns how many went. */
  remove(tenant: string, of: { readonly user?: string; readonly session?: string }): Promise<number>;
  /** `rows`: once the rows are gone, whose removal starts it anew. */
  readonly after?: 'rows';
}

interface CommandFields {
  readonly group: CommandGroup;
  readonly name: string;
  readonly summary: string;
  /** What a command of the API takes unless given. */
  readonly takes?: readonly SharedOption[];
}

/** A command with a module of its own, or one that its resource defines. */
export type FeatureCommand =
  | (CommandFields & { readonly load: Load<CommandModule> })
  | (CommandFields & { readonly resource: Load<Resource> });

/** Those whose needs are met, each after what it needs. */
export function inOrderOfNeed<Some extends Pick<Feature, 'name' | 'needs'>>(
  features: readonly Some[],
): readonly Some[] {
  const ordered: Some[] = [];
  for (;;) {
    const isThere = (name: string): boolean => ordered.some((one) => one.name === name);
    const next = features.filter((one) => !ordered.includes(one) && (one.needs ?? []).every(isThere));
    if (next.length === 0) return ordered;
    ordered.push(...next);
  }
}

/** Gives the manifest its type. */
export function defineFeature(feature: Feature): Feature {
  return feature;
}
