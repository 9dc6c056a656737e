/**
 * Where an optional capability joins the core: every extension point, with its type. A feature is a folder below
 * features/, and its manifest lists its parts. Each part is a module that only the processes that need it load, so a
 * manifest imports nothing but types.
 */
import type { CommandGroup, CommandModule, SharedOption } from '#cli/commands.ts';
import type { AgentConfig } from './agent.ts';
import type { FinishAssignmentInput } from './assignment/assignment.ts';
import type { DocumentScope } from './files/document.ts';
import type { Resource } from './resource/define-resource.ts';
import type { ApiCore } from '#api/api-parts.ts';
import type { FeatureDeps, RouteModule } from '#api/deps.ts';
import type { ReadBearer } from '#api/server/auth.ts';
import type { RunningCall, Tool } from '#policy/define-tool.ts';
import type { AssignmentRow } from '#store/assignments/assignment-store.ts';
import type { AssignmentEnd } from '#store/assignments/end-assignment.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { RowPart } from '#store/row-parts.ts';
import type { ForAnyTenant } from '#store/secrets/scrubber.ts';
import type { Guard } from '#activities/guards.ts';
import type { StandIns } from '#activities/stand-ins.ts';
import type { StartGate } from '#activities/start-gate.ts';
import type { PerformDeps } from '#activities/tool-call/perform-tool.ts';
import type { ForkAnswer } from '#activities/turn/generate-answer.ts';
import type { StepEngine } from '#activities/turn/step-engine.ts';
import type { Workspaces } from '#activities/workspace/workspaces.ts';
import type { Config } from '#config';
import type { SettingsSection } from '#config/section.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { MessageContext } from './turn/turn.ts';
import type { RunToolInput } from './turn/turn-activities.ts';
import type { ServiceHandler } from 'nexus-rpc';
import type { WorkerCore } from '#workers/worker-core.ts';

/** Imports a module when it is needed. */
export type Load<Module> = () => Promise<Module>;

export interface Feature {
  /** The name of its folder. */
  readonly name: string;
  /** What it enables agents or people to do, in one line. */
  readonly summary: string;
  /** Names of other features that it builds on. Without one of them it is not loaded either. */
  readonly needs?: readonly string[];
  /** Folder of numbered SQL files that create its tables. The URL ends with a slash. */
  readonly migrations?: URL;
  /** Its sections of the settings. */
  readonly settings?: readonly SettingsSection[];
  /** Tools of agents, one per file. The file has the tool's name. */
  readonly tools?: readonly Load<{ readonly tool: Tool }>[];
  /**
   * Tools that tenants add at run time, for catalogs. Code that changes them raises the version of the tenant's tools.
   */
  readonly addedTools?: Load<AddedToolsModule>;
  /** What the core's rows must know about its rows. */
  readonly rows?: Load<{ readonly rowPart: RowPart }>;
  /** Provides workspaces in place of folders on the worker's machine. */
  readonly workspaces?: Load<WorkspacesModule>;
  /** Its part in the API process. */
  readonly api?: Load<ApiModule>;
  /** Its part in a worker. */
  readonly worker?: Load<WorkerModule>;
  /**
   * Files whose exports are workflow types. They import only types, contracts, rules and the core's workflows. An
   * export replaces the core's workflow of that name.
   */
  readonly workflows?: readonly URL[];
  /** Routes of the API, in the order of the OpenAPI document. */
  readonly routes?: readonly Load<RouteModule>[];
  /** Commands of the CLI. */
  readonly commands?: readonly FeatureCommand[];
  /** Commands below another command, by its name. */
  readonly subcommands?: Readonly<Record<string, FeatureCommand['load']>>;
  /** Set when it is loaded from a folder outside of this build. */
  readonly own?: OwnFeature;
}

/** Where a feature comes from that does not belong to this build. */
export interface OwnFeature {
  readonly folder: string;
  /** Identifies the contents of the folder. */
  readonly digest: string;
}

export interface ApiModule {
  /** Called once, when the API starts. */
  createApiPart(core: ApiCore): ApiPart;
}

/** The part of a feature in the API process. */
export interface ApiPart {
  /** Dependencies of its routes, declared in FeatureDeps (api/deps.ts). */
  readonly deps?: Partial<FeatureDeps>;
  /** Called when the database is ready, before the API listens. Safe to repeat, also by several processes at once. */
  start?(): Promise<void>;
  /**
   * Called for each message before it is stored. Returns the context to store. @throws Failure for a message that may
   * not be sent
   */
  admitMessage?(tenant: string, message: MessageToAdmit): Promise<MessageContext>;
  /**
   * Called for a bearer token that is not a key, such as one of an identity provider. Undefined when it is none of the
   * feature's. @throws Failure Unauthorized; Forbidden; Unavailable when it cannot be checked now
   */
  readonly readBearer?: ReadBearer;
  readonly documentWritten?: DocumentWritten;
  readonly gauges?: readonly ServiceGauge[];
}

/** A figure over all tenants for the operator's monitoring, at /metrics. No label names a tenant, a user or an id. */
export interface ServiceGauge {
  /** Begins with `tempoclaw_`. */
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** The values by the label. Each process reads them at most every 10 seconds. */
  read(): Promise<Readonly<Record<string, number>>>;
}

export interface MessageToAdmit {
  readonly id: string;
  readonly session: string;
  readonly context: MessageContext;
  /** The user of the key, which cannot reach other users' sessions; null or undefined means any user. */
  readonly confinedTo?: string | null | undefined;
}

/**
 * Called after the commit of each change of a document, whoever made it. A notification that is lost with the process
 * must be recovered later.
 */
export type DocumentWritten = (scope: DocumentScope, path: string, isRemoved: boolean) => Promise<void>;

export interface WorkspacesModule {
  /** `folders` are the workspaces on this machine. Undefined when the settings keep these. */
  createWorkspaces(folders: Workspaces, parts: WorkspaceParts): Workspaces | undefined;
}

export interface WorkspaceParts {
  readonly config: Config;
  readonly pool: Pool;
  /** Resolves `secret://NAME` in a setting. */
  resolveSetting(text: string): Promise<string>;
  /** Receives errors of background work. */
  onError(error: unknown): void;
}

/**
 * Points at which features extend another feature, by name. The feature that has the point declares it by declaration
 * merging.
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by the features
export interface FeaturePoints {}

/** Whether `by`, a call that runs now, is the one that reverses `call`. */
export type MayReverse = (tenant: string, call: string, by: string) => Promise<boolean>;

export interface WorkerModule {
  /** Called once, when the worker starts. */
  createWorkerPart(core: WorkerCore): WorkerPart | Promise<WorkerPart>;
}

/** The part of a feature in a worker. */
export interface WorkerPart {
  /** What it adds to other features' extension points. */
  readonly extends?: Partial<FeaturePoints>;
  /** Dependencies of its tools, by the names that the tools use. */
  readonly tools?: Readonly<Record<string, unknown>>;
  /** Runs the calls of tools that tenants add at run time. */
  readonly addedTools?: AddedTools;
  /** Runs steps in place of the plain engine. `perform` has what tools run with; no call starts at a closed gate. */
  createStepEngine?(perform: ForAnyTenant<PerformDeps>, startGate: StartGate): StepEngine;
  /** Checks that wrap prompts, calls and commands. */
  readonly guard?: Guard;
  /** What answers in sessions that have stand-ins. */
  readonly standIns?: StandIns;
  /** Which calls of tools that reverse others may run (DU-9); without it none may. */
  readonly mayReverse?: MayReverse;
  /** Answers that people have given for steps of forks, in place of models. */
  readonly forkAnswer?: ForkAnswer;
  /** Activities of its workflows, by the names of their types. */
  readonly activities?: Readonly<Record<string, (input: never) => Promise<unknown>>>;
  /** Services of Temporal Nexus, for endpoints that lead to the workers' task queue. */
  readonly nexusServices?: readonly ServiceHandler[];
  readonly documentWritten?: DocumentWritten;
  readonly assignmentEnds?: AssignmentEnds;
  /** Part of the system prompt for each step. It makes no query while nothing has changed. */
  promptPiece?(step: PromptStep): Promise<PromptPiece | undefined>;
  /** Called once, before the summary of a conversation is recorded; the turn waits for it. */
  summarized?(session: SummarizedSession, summary: string): Promise<void>;
  /** Starts lost work again. Called each minute; safe to repeat, also concurrently. Returns how many items it found. */
  recover?(): Promise<number>;
  /**
   * Removes what nothing needs any more, outside rows. Called each minute; safe to repeat, also concurrently. Returns
   * the number removed.
   */
  prune?(): Promise<number>;
  readonly forget?: ForgetPart;
  /** Ends what runs here for a session. Called when the session's last turn has ended; safe to repeat. */
  endSession?(tenant: string, session: string): Promise<void>;
  /**
   * Whether something that a tenant connected through it is a client of this Temporal server and could decide approvals
   * by itself.
   */
  hasTemporalClients?(): Promise<boolean>;
  /** Called when the worker has drained. */
  close?(): Promise<void>;
}

/** A tool that a tenant has added, for one agent or (null) for all. */
export interface AddedTool {
  readonly agent: string | null;
  readonly tool: Tool;
}

export interface AddedToolsModule {
  /** All enabled tools. `onError` receives a definition that cannot be used, so that it does not affect other tools. */
  listAddedTools(db: TenantDb, onError: (error: unknown) => void): Promise<readonly AddedTool[]>;
}

export interface AddedTools {
  /** Whether a tool of this name is probably one of these; then these are searched first. */
  isLikely(name: string): boolean;
  /**
   * The tool in its present form. Undefined when none of these matches the call; `isGone` when another feature may have
   * it.
   */
  find(input: RunToolInput): Promise<{ readonly tool: Tool; readonly isGone: boolean } | undefined>;
}

/** Reads how an assignment ended whose workflow is the feature's, by its kind. Safe to repeat. */
export type AssignmentEnds = Readonly<
  Record<string, (input: FinishAssignmentInput, row: AssignmentRow) => Promise<AssignmentEnd>>
>;

/** A step whose prompt is built. */
export interface PromptStep extends Pick<StepBasis, 'user' | 'context' | 'documents' | 'tools_version'> {
  readonly tenant: string;
  readonly session: string;
  readonly agent: AgentConfig;
  /** Names of the tools that the rules offer. */
  readonly offered: readonly string[];
}

export interface PromptPiece {
  readonly text?: string | undefined;
  /** Names of tools that this step does not need. */
  readonly unneeded?: readonly string[];
}

/** A conversation that was shortened. */
export interface SummarizedSession extends Pick<RunningCall, 'tenant' | 'agent' | 'user' | 'readOutside'> {
  readonly session: string;
  readonly turn: string;
}

/** Removes data that does not belong to the rows of the session or user. */
export interface ForgetPart {
  /** Its line in the receipt. */
  readonly counted: string;
  /**
   * Removes what belongs to a user or a session; all of it is gone when this resolves. Safe to repeat. Returns the
   * number removed.
   */
  remove(tenant: string, of: { readonly user?: string; readonly session?: string }): Promise<number>;
  /** `rows`: runs after the rows are removed; their removal starts it again. */
  readonly after?: 'rows';
}

/** A command with a module of its own, or with the commands of a resource. */
export interface FeatureCommand {
  readonly group: CommandGroup;
  readonly name: string;
  readonly summary: string;
  /** The command that it precedes in the help; absent means that it is after those of the core. */
  readonly before?: string;
  /** Shared options of the command; absent means the default ones. */
  readonly takes?: readonly SharedOption[];
  /** `features` are those of the build. */
  load(features: readonly Feature[]): Promise<CommandModule | Resource>;
}

/** The features whose needs are met, each after the features it needs. */
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

/** Checks the type of the manifest. */
export function defineFeature(feature: Feature): Feature {
  return feature;
}
