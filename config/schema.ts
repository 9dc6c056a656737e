/**
 * The shape of TempoClaw's settings: every key of `tempoclaw.yaml`, its limits and its default. Features add sections
 * of their own. Unknown keys are refused everywhere, so that a misspelt setting never seems to work.
 */
import { DATABASE_URL_WORDS, isWholeUrl } from './database-url.ts';
import { z } from 'zod';
import { DEFAULT_APPROVAL_SECONDS } from '#domain/approval/approval.ts';
import { sharedExecPolicySchema } from '#domain/schema/agent.ts';
import { settingsBudgetsSchema } from '#domain/schema/budget.ts';
import { retentionSchema } from '#domain/schema/forgetting.ts';
import { MAX_LINGER_SECONDS } from '#domain/turn/start-problem.ts';
import { SUBAGENT_LIMITS } from '#domain/assignment/subagent.ts';
import { hooksSchema } from '#domain/schema/hook.ts';
import { commandBounds, SANDBOX_MODES, sandboxFields } from '#domain/schema/sandbox.ts';
import { hasKeys, NEEDS_KEYS, s3Schema, storeSchema } from './object-store.ts';
import { httpUrl, withAliases } from '#domain/schema/scalars.ts';
import type { FeatureSettings } from './section.ts';
import { SECTIONS } from './sections.ts';
import { toolsSection } from './tools-section.ts';

const port = z.int().min(0).max(65535);
const seconds = z.number().positive().max(86_400);

/** 32 bytes of base64 with enough variety to be random; a phrase or zeros would encrypt in name only. */
const encryptionKey = z.string().refine(isStrongKey, {
  error: 'must be 32 random bytes in base64; make one with: openssl rand -base64 32',
});

function isStrongKey(text: string): boolean {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return false;
  const bytes = Buffer.from(text, 'base64');
  // 32 random bytes have about 30 distinct values; 16 or fewer means a pattern or typed text.
  return bytes.length === 32 && new Set(bytes).size > 16 && bytes.some((byte) => byte > 126 || byte < 32);
}

const provider = z.strictObject({
  type: z.enum(['anthropic', 'openai', 'google', 'openai-compatible']).exactOptional(),
  apiKey: z.string().min(1).max(4_096).exactOptional(),
  baseUrl: httpUrl.exactOptional(),
  /** Which of OpenAI's two protocols; other servers support `chat`. */
  api: z.enum(['responses', 'chat']).exactOptional(),
  toolCallPrefix: z.string().min(1).max(200).exactOptional(),
});

const usdPerMillion = z.number().min(0).max(100_000);

const modelRef = z
  .string()
  .max(300)
  .regex(/^[^/\s]+\/\S+$/, 'must be provider/model, such as openai/gpt-4.1-mini');

const models = z.strictObject({
  /** `provider/model`; without it, the best configured provider's usual model, else `rehearsal/welcome`. */
  default: modelRef.exactOptional(),
  /**
   * The embedding model of searches; without one, they compare words alone. A provider named `embedding` serves it in
   * place of the named one.
   */
  embedding: modelRef.exactOptional(),
  /**
   * Models that are called for images and PDFs, one after the other; without them, those of the configured providers
   * that support vision.
   */
  vision: z.array(modelRef).min(1).max(10).exactOptional(),
  /**
   * The model for recordings; without one, that of a provider named `transcribe`, else OpenAI's. Such a provider also
   * serves it in place of the named one.
   */
  transcription: modelRef.exactOptional(),
  providers: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, - or _'),
      provider,
    )
    .default({}),
  /** US dollars per million tokens, by `provider/model`; overrides the built-in table. */
  prices: z
    .record(
      z.string(),
      z.strictObject({
        input: usdPerMillion,
        output: usdPerMillion,
        cachedInput: usdPerMillion.exactOptional(),
        /** US dollars per minute of audio input. */
        minute: usdPerMillion.exactOptional(),
      }),
    )
    .default({}),
  /** Tokens, by `provider/model`; overrides the built-in table. */
  contextWindows: z.record(z.string(), z.int().min(256).max(100_000_000)).default({}),
  /** Whether a model accepts images, by `provider/model`; overrides what is known. */
  images: z.record(z.string(), z.boolean()).default({}),
  firstByteTimeoutSeconds: seconds.default(120),
  idleTimeoutSeconds: seconds.default(60),
});

const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

const api = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: port.default(7400),
  publicUrl: httpUrl.exactOptional(),
  rateLimitPerMinute: z.int().min(0).max(1_000_000).default(6_000),
  bodyLimitBytes: z
    .int()
    .min(1_024)
    .max(256 * 1_048_576)
    .default(1_048_576),
  corsOrigins: z.array(z.string().min(1)).max(100).default([]),
  /**
   * Names by which the API and the web UI that `tempoclaw up` starts are called, besides localhost, addresses and
   * publicUrl's.
   */
  allowedHosts: z
    .array(z.string().regex(HOST_NAME, 'must be a host name without a port'))
    .max(100)
    .default([]),
  /** Addresses and prefixes of reverse proxies whose X-Forwarded-For is trusted. */
  trustedProxies: z
    .array(
      z.union(
        [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
        'must be an address or a prefix such as 10.0.0.0/8',
      ),
    )
    .max(100)
    .default([]),
});

const temporal = z.strictObject({
  address: z
    .string()
    .regex(/^[^\s/]+:\d{1,5}$/, 'must be host:port, such as localhost:7233')
    .exactOptional(),
  namespace: z.string().min(1).max(255).default('default'),
  taskQueue: z.string().min(1).max(200).default('tempoclaw'),
  /** How long a session's run waits for the next message after its turn. With 0, each turn has a run of its own. */
  lingerSeconds: z.int().min(0).max(MAX_LINGER_SECONDS).default(0),
  uiUrl: httpUrl.exactOptional(),
  /** First ports tried for the dev server that `tempoclaw up` starts when there is no address. */
  port: port.default(7233),
  uiPort: port.default(8233),
  apiKey: z.string().min(1).exactOptional(),
  tls: z
    .strictObject({
      disabled: z.boolean().exactOptional(),
      serverName: z.string().min(1).exactOptional(),
      serverCaCertPath: z.string().min(1).exactOptional(),
      clientCertPath: z.string().min(1).exactOptional(),
      clientKeyPath: z.string().min(1).exactOptional(),
    })
    .exactOptional(),
});

const database = z.strictObject({
  url: z.string().refine(isWholeUrl, DATABASE_URL_WORDS).exactOptional(),
  /**
   * PgBouncer in transaction mode, in front of the database of `url`. Statements go through it; what needs a connection
   * of its own, such as LISTEN and migrations, uses `url`.
   */
  poolerUrl: z.string().refine(isWholeUrl, DATABASE_URL_WORDS).exactOptional(),
  /** Replaces the password of the URL, unescaped: no character in it has a special meaning. */
  password: z.string().min(1).exactOptional(),
  poolSize: z.int().min(1).max(500).default(20),
  /** First port tried for the embedded Postgres that `tempoclaw up` starts when there is no url. */
  port: port.default(54_329),
});

const worker = z.strictObject({
  /** Runs kept in memory between their steps; one that is not is replayed. By default 600 for each GB of heap. */
  maxCachedWorkflows: z.int().min(0).max(100_000).exactOptional(),
  /** Tools and everything else but model calls. */
  maxConcurrentActivities: z.int().min(1).max(10_000).default(100),
  /** A model call waits for its provider and needs little of the worker meanwhile. */
  maxConcurrentModelCalls: z.int().min(1).max(100_000).default(2_000),
  maxConcurrentWorkflowTasks: z.int().min(2).max(10_000).default(40),
  shutdownGraceSeconds: seconds.default(10),
  /**
   * Uses our own workflow threads: a turn with tools takes a quarter less, but one workflow that never yields ends the
   * worker.
   */
  lean: z.boolean().default(false),
  fastPath: z.boolean().default(true),
  /** `host:port` at which the worker serves the Temporal SDK's metrics in Prometheus' format: slots, cache, polls. */
  metricsAddress: z
    .string()
    .regex(/^[^\s:]+:\d{1,5}$|^\[[\da-f:]+\]:\d{1,5}$/i, 'must be host:port')
    .exactOptional(),
  /**
   * Opts into Temporal's worker versioning under this deployment name; the build id is the hash of the workflow code.
   * Runs then move to a new build only when an operator makes it the current one.
   */
  deploymentName: z
    .string()
    .regex(/^[A-Za-z0-9][\w-]{0,99}$/, 'must be letters, digits, - or _')
    .exactOptional(),
  /** SH-6: TCP ports on any host that commands on the worker's machine cannot reach; TempoClaw's own are among them. */
  closedPorts: z.array(z.coerce.number().pipe(port)).max(1_000).default([]),
  /** SH-3: limits of commands. */
  commands: commandBounds.prefault({}),
});

const approvals = z.strictObject({
  expirySeconds: z.int().min(1).max(31_536_000).default(DEFAULT_APPROVAL_SECONDS),
  decisionToken: z
    .strictObject({
      /**
       * `auto` requires it where commands may run unboxed, or where nodes on task queues reach Temporal as its clients
       * do.
       */
      required: z.union([z.literal('auto'), z.boolean()]).default('auto'),
      /** Without it, the secret is derived from the master key. */
      secret: z.string().min(32).exactOptional(),
    })
    .prefault({}),
});

/** IN-9: who reaches whose sessions. */
const sessions = z.strictObject({
  /** Keys of users, and agents that work for one, reach the sessions of all users of the tenant. */
  shared: z.boolean().default(false),
});

/** SA-1: limits of subagents; GoClaw's names of two of them are also accepted. */
const subagents = withAliases(
  { maxSpawnDepth: 'maxDepth', maxChildrenPerAgent: 'maxChildren' },
  z.strictObject({
    maxConcurrent: z.int().min(0).max(10_000).default(SUBAGENT_LIMITS.concurrent),
    maxDepth: z.int().min(0).max(5).default(SUBAGENT_LIMITS.depth),
    maxChildren: z.int().min(0).max(1_000).default(SUBAGENT_LIMITS.children),
    maxIterations: z.int().min(1).max(10_000).default(SUBAGENT_LIMITS.iterations),
    archiveAfterMinutes: z.number().min(0).max(525_600).default(SUBAGENT_LIMITS.archiveMinutes),
    /** How long a subagent may take when the call that starts it does not say. */
    timeoutSeconds: z.int().min(1).max(2_592_000).default(SUBAGENT_LIMITS.timeoutSeconds),
    /** `provider/model` in place of the parent's. */
    model: z
      .string()
      .regex(/^[^/\s]+\/\S+$/, 'must be provider/model')
      .exactOptional(),
  }),
);

const hostAndPort = z
  .string()
  .regex(
    /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]{1,253}):\d{1,5}$/,
    'must be host:port, such as localhost:8080',
  );
const domainList = z.array(z.string().min(1).max(300)).max(1_000);

/** Where tools, MCP servers, downloads and webhooks may connect. */
const egress = z.strictObject({
  /** Services of the own network that nobody else can allow: loopback and private addresses; metadata never. */
  allowPrivate: z.array(hostAndPort).max(1_000).default([]),
  policy: z.enum(['allow_all', 'allowlist']).exactOptional(),
  /** Domains such as `github.com` and `*.example.com`. */
  allowedDomains: domainList.exactOptional(),
  blockedDomains: domainList.exactOptional(),
  /** Ports that are allowed besides the web's own. */
  allowedPorts: z.array(port).max(1_000).default([]),
});

/** SH-3: the sandbox of agents that do not choose another; a mode alone is short for `{ mode }`. */
const sandbox = z.preprocess(
  (value) => (SANDBOX_MODES.some((mode) => mode === value) ? { mode: value } : value),
  z.strictObject({
    ...sandboxFields,
    /** Without it, DOCKER_HOST, else the usual socket. */
    dockerHost: z.string().min(1).max(4_096).exactOptional(),
    /** A box in which nothing has run for this long ends itself. */
    idleMinutes: z.int().min(1).max(10_080).default(30),
    /** A box this old also ends, as soon as nothing runs in it, and at twice the age whatever runs. */
    maxAgeHours: z.int().min(1).max(8_760).default(24),
  }),
);

/** VF-6: where workspaces are. */
const workspaces = z
  .strictObject({
    /**
     * `none`: one folder, which workers on several machines share. `snapshots`: each worker has its own folder, and
     * files follow the work.
     */
    follow: z.enum(['none', 'snapshots']).default('none'),
    /** Where snapshots are stored; by default `snapshots` in the state folder. */
    store: storeSchema.exactOptional(),
    s3: s3Schema,
  })
  .refine(({ follow, store, s3: keys }) => follow === 'none' || hasKeys(store, keys), NEEDS_KEYS);

/** The sections of the core; parsing `{}` returns the defaults (loadConfig fills in folders). */
export const coreSchema = z.strictObject({
  stateDir: z.string().min(1).default('.tempoclaw'),
  workspaceRoot: z.string().min(1).exactOptional(),
  workspaces: workspaces.prefault({}),
  api: api.prefault({}),
  temporal: temporal.prefault({}),
  database: database.prefault({}),
  worker: worker.prefault({}),
  models: models.prefault({}),
  /** Folder of rehearsal scripts that replaces the ones shipped with the package. */
  rehearsal: z.strictObject({ dir: z.string().min(1).exactOptional() }).prefault({}),
  approvals: approvals.prefault({}),
  sessions: sessions.prefault({}),
  tools: toolsSection.prefault({}),
  subagents: subagents.prefault({}),
  /** DU-7: budgets for each tenant separately, besides those of its own rows. */
  budgets: settingsBudgetsSchema.default([]),
  /** How commands are judged for every agent, below the policies of its tenant and of the agent itself. */
  exec: sharedExecPolicySchema.prefault({}),
  sandbox: sandbox.prefault({}),
  egress: egress.prefault({}),
  /** How long a tenant keeps what, if it does not say so itself. */
  retention: retentionSchema.prefault({}),
  /** Hooks of every agent, before those of its tenant and its own. */
  hooks: hooksSchema.default([]),
  encryption: z
    .strictObject({
      key: encryptionKey.exactOptional(),
      previousKeys: z.array(encryptionKey).max(20).default([]),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    })
    .prefault({}),
});

/** The parsed settings before folders are made absolute and TLS files are read. */
export type ParsedConfig = z.output<typeof coreSchema> & FeatureSettings;

/** All settings: the core's sections and those of features. */
export const configSchema = coreSchema.extend(
  Object.fromEntries(SECTIONS.map(({ name, schema }) => [name, schema])),
) as unknown as z.ZodObject<(typeof coreSchema)['shape']> & z.ZodType<ParsedConfig>;
