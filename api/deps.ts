/** What the API needs of the world; api/main.ts builds it, tests pass their own. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { LogStream } from '#store/secrets/log-stream.ts';
import type { CallRules } from '#policy/call-rules.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { JudgePath } from '#domain/path-rules.ts';
import type { AgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import type { RuleSource } from '#policy/explain/explain-scope.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import type { Secrets } from '#store/secrets/open-secrets.ts';
import type { Pool } from '#store/pool.ts';
import type { ResolveProgram } from '#domain/shell/allowlist.ts';
import type { ReplayClass } from '#domain/tool.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import type { EventFeed } from './event-feed.ts';
import type { CodecAccess } from './routes/codec.ts';
import type { Metrics } from './metrics.ts';

/** A tool as people and programs outside see it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly group: string;
  readonly replay: ReplayClass;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly aliases: readonly string[];
}

export interface ToolDirectory {
  /** Whether a tool of TempoClaw's own has the name or alias. */
  isNative(name: string): boolean;
  /** What an agent may be given, whatever its policy leaves of it. */
  list(tenant: string, agent: string): Promise<readonly ToolDescription[]>;
  /** By name or alias. */
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
  /** Undefined when there is such a model; else why not. */
  problem(ref: string): string | undefined;
}

export interface ApiSettings {
  /** 0: no limit. */
  readonly rateLimitPerMinute: number;
  readonly bodyLimitBytes: number;
  readonly corsOrigins: readonly string[];
  /** Beside localhost, addresses and the name in `publicUrl`. */
  readonly allowedHosts: readonly string[];
  /** The address others know us by; https turns on HSTS. */
  readonly publicUrl?: string | undefined;
  readonly temporalUiUrl?: string | undefined;
  readonly temporalNamespace: string;
  /** Keys of users reach the sessions of all users. */
  readonly sharedSessions: boolean;
  /** Where this process keeps files; /readyz tries to write there. */
  readonly stateDir?: string | undefined;
}

/** What explain and backtest judge by, beside the rows. */
export interface PolicyBasis {
  readonly catalogs: AgentCatalogs;
  readonly settings: RuleSource['settings'];
  /** Where this process sees workspaces. */
  readonly workspaceOfAgent: (tenant: string, agent: AgentConfig) => string;
  readonly judgePath: JudgePath;
  /** Which files commands start, as far as this process can tell. */
  readonly resolveProgram: ResolveProgram;
}

export interface ApiDeps {
  readonly pool: Pool;
  readonly temporal: TemporalAccess;
  readonly feed: EventFeed;
  readonly notifier: EventNotifier;
  readonly secrets: Pick<Secrets, 'sealer' | 'vault'>;
  /** Present when payloads are encrypted. */
  readonly codec?: CodecAccess | undefined;
  readonly metrics: Metrics;
  readonly models: ModelDirectory;
  readonly tools: ToolDirectory;
  /** The same by which workers judge. */
  readonly rules: CallRules;
  readonly policy: PolicyBasis;
  readonly settings: ApiSettings;
  /** Under which decision tokens are made. */
  readonly tokenSecret: string;
  readonly logLevel: string;
  /** Where log lines go; standard output when absent. */
  readonly logs?: LogStream | undefined;
}

/** The app as routes see it: zod schemas give the types of bodies, queries and answers. */
export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;
