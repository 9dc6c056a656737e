/** What the API needs from outside. api/main.ts builds it; tests pass their own. */
import type { Attachment, FileBytes } from '#domain/files/attachment.ts';
import type { DocumentWritten, Feature, MessageToAdmit, ServiceGauge } from '#domain/feature.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { PolicyTool } from '#domain/policy/tool-groups.ts';
import type { SandboxSettings } from '#domain/sandbox.ts';
import type { Hook } from '#domain/turn/hook.ts';
import type { Readable } from 'node:stream';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { LogStream } from '#store/secrets/log-stream.ts';
import type { CallRules } from '#policy/call-rules.ts';
import type { AgentConfig, ExecPolicy, ToolDialect, ToolPolicy } from '#domain/agent.ts';
import type { Gateway } from '#domain/gateway.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import type { Secrets } from '#store/secrets/open-secrets.ts';
import type { RowParts } from '#store/row-parts.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { Budget } from '#domain/schema/budget.ts';
import type { toolSchema } from '#domain/schema/tool.ts';
import type { PayloadCodec } from '@temporalio/common';
import type { TemporalAccess } from '#temporal/client.ts';
import type { Credential, ReadBearer, RouteAuthenticator } from './server/auth.ts';
import type { EventFeed } from './event-feed.ts';
import type { Metrics } from './server/metrics.ts';
import type { MessageContext } from '#domain/turn/turn.ts';

/** A tool as people and programs outside see it. */
export type ToolDescription = Kept<typeof toolSchema>;

export interface ToolDirectory {
  /** Whether one of TempoClaw's own tools has the name or alias. */
  isNative(name: string): boolean;
  /** The tools that an agent may have, before its policy is applied. */
  list(tenant: string, agent: string, dialect?: ToolDialect): Promise<readonly ToolDescription[]>;
  /** The same tools as policies see them. */
  policyTools(tenant: string, agent: string): Promise<readonly PolicyTool[]>;
  /** TempoClaw's own tools. */
  native(dialect?: ToolDialect): readonly ToolDescription[];
  /** Finds a tool by its name or alias. */
  find(tenant: string, agent: string, name: string): Promise<ToolDescription | undefined>;
  /** Checks a call's arguments as the worker will. */
  check(
    tenant: string,
    agent: string,
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<
    | { readonly ok: true; readonly tool: string }
    | { readonly ok: false; readonly code: 'NotFound' | 'InvalidArgs'; readonly message: string }
  >;
}

export interface ModelDirectory {
  /** The model of agents that name none. */
  best(): string;
  /** The embedding model; undefined if there is none. */
  embedder(): string | undefined;
  /** Why a model cannot be used; undefined if it can. */
  problem(ref: string): string | undefined;
}

export interface ApiSettings {
  /** Zero means no limit. */
  readonly rateLimitPerMinute: number;
  readonly bodyLimitBytes: number;
  readonly corsOrigins: readonly string[];
  /** Addresses and prefixes of the proxies whose forwarding headers are trusted. */
  readonly trustedProxies?: readonly string[];
  /** Hosts that are allowed besides localhost, addresses and the name in `publicUrl`. */
  readonly allowedHosts: readonly string[];
  /** The address by which others reach this API. An https address turns on HSTS. */
  readonly publicUrl?: string | undefined;
  readonly temporalUiUrl?: string | undefined;
  readonly temporalNamespace: string;
  /** Whether keys of users reach the sessions of all users. */
  readonly sharedSessions: boolean;
  /** A setting of the workers: whether a first model call may be made within a workflow task. */
  readonly fastPath: boolean;
  /** The budgets of the settings, which a reload changes in place. */
  readonly budgets: readonly Budget[];
  /** The folder where this process keeps files; /readyz tries to write there. */
  readonly stateDir?: string | undefined;
}

/** The settings by which calls are judged. */
export interface RuleSettings {
  readonly tools: ToolPolicy;
  readonly exec?: ExecPolicy | undefined;
  readonly deniedPaths?: readonly string[] | undefined;
  readonly sandbox?: SandboxSettings | undefined;
  readonly egress?: EgressSettings | undefined;
  readonly hooks?: readonly Hook[] | undefined;
}

/** What calls are judged by, besides the rows. */
export interface PolicyBasis {
  readonly catalogs: AgentCatalogs;
  readonly settings: RuleSettings;
}

/** Whose workspace of an agent is meant. */
export interface WorkspaceRequest {
  readonly tenant: string;
  readonly agent: AgentConfig;
  readonly user: string | null;
  readonly session: string;
  /** The name that a change is signed with. */
  readonly by: string;
}

/**
 * Transfers bytes in and out of workspaces, by the rules of the file tools. Throws Failure; Unavailable if this machine
 * has no workspaces.
 */
export interface WorkspaceAccess {
  read(
    request: WorkspaceRequest,
    path: string,
  ): Promise<{ readonly bytes: number; readonly version: string; readonly stream: Readable }>;
  /**
   * Is safe to repeat. `check` gets the current file's version (undefined if there is no file), and throws to keep it.
   */
  write(
    requested: WorkspaceRequest,
    path: string,
    content: AsyncIterable<Buffer>,
    check?: (version: string | undefined) => void,
  ): Promise<{ readonly created: boolean; readonly bytes: number; readonly version: string }>;
}

/** A module of routes. */
export interface RouteModule {
  addRoutes(app: Api, deps: ApiDeps, authenticator: RouteAuthenticator): void | Promise<void>;
}

/** A page with scripts. */
export interface BrowserPage {
  readonly html: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
}

/**
 * Further dependencies of the routes of features. A feature adds its own by declaration merging and makes it (ApiPart).
 */
export interface FeatureDeps {
  /**
   * Begins the login that an approval asks its user for (`form.login`), or with an empty user one that is for all;
   * `base` is where people reach the API. @throws Failure NotFound, Conflict, Unprocessable
   */
  beginLogin?(
    at: { readonly tenant: string; readonly server: string; readonly user: string },
    base: string,
  ): Promise<{ readonly url: string; readonly expiresAt: Date }>;
  /**
   * The files that a message attaches, in the order of their names; `pointer` is where the request names them. Absent
   * without a feature that stores files. @throws Failure Unprocessable for a file that the user may not read
   */
  findAttachments?(
    tenant: string,
    user: string | null,
    refs: readonly string[],
    pointer: string | undefined,
  ): Promise<readonly Attachment[]>;
  /** Stores a file that a message brings. Safe to repeat. @throws Failure TooLarge, Unprocessable */
  keepAttachment?(tenant: string, user: string | null, file: FileBytes): Promise<Attachment>;
  /** Those of these artifacts that the user may read, in the order of their ids. */
  readableFiles?(tenant: string, user: string | null, ids: readonly string[]): Promise<readonly Attachment[]>;
  /** The bytes of a file; undefined when they were removed. */
  readFile?(tenant: string, file: Attachment): Promise<Buffer | undefined>;
  /**
   * What a request without a key carries in its place. Undefined when it carries nothing. @throws Failure Unauthorized;
   * Forbidden for a request that its holder may not have intended
   */
  findCredential?(request: FastifyRequest): Promise<Credential | undefined>;
  /** The page that browsers get at `/` and at addresses without a route. Undefined when it is not there. */
  findPage?(request: FastifyRequest): Promise<BrowserPage | undefined>;
  /** The session that a message to this one goes to, by its chat. Absent without a feature that moves chats. */
  sessionOfChat?(
    tenant: string,
    session: string,
    message: Partial<Readonly<Record<'agent' | 'channel' | 'chat_id', string | undefined>>>,
  ): Promise<string>;
}

export interface ApiParts {
  readonly deps: JoinedParts;
  readonly gauges: readonly ServiceGauge[];
  start(): Promise<void>;
}

/** What the parts of all features are together. */
export interface JoinedParts extends FeatureDeps {
  admitMessage(tenant: string, message: MessageToAdmit): Promise<MessageContext>;
  readonly readBearer: ReadBearer;
  readonly documentWritten: DocumentWritten;
}

export interface CodecAccess {
  readonly codec: PayloadCodec;
  /** The secret part of the address; it changes with the key. */
  readonly token: string;
}

export interface ApiDeps extends JoinedParts {
  /** Optional capabilities whose routes are also served. */
  readonly features: readonly Feature[];
  readonly pool: Pool;
  /** What features declare about their rows. */
  readonly rows: RowParts;
  readonly temporal: TemporalAccess;
  readonly feed: EventFeed;
  readonly notifier: EventNotifier;
  readonly secrets: Pick<Secrets, 'sealer' | 'vault' | 'changes'>;
  /** Present when payloads are encrypted. */
  readonly codec?: CodecAccess | undefined;
  readonly metrics: Metrics;
  readonly models: ModelDirectory;
  readonly tools: ToolDirectory;
  /** The same rules that workers use. */
  readonly rules: CallRules;
  readonly policy: PolicyBasis;
  readonly workspaces: WorkspaceAccess;
  readonly settings: ApiSettings;
  readonly gateway: Gateway;
  /** The secret that signs decision tokens. */
  readonly tokenSecret: string;
  readonly logLevel: string;
  /** Where log lines go; standard output when absent. */
  readonly logs?: LogStream | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Postgres, which resources bind to their callers' tenants. */
    pool: Pool;
  }
}

/** The app as routes see it: zod schemas give the types of bodies, queries and answers. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;
