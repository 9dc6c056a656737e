/**
 * The HTTP API on a socket with a database of its own, with or without a real worker behind it, so that test files run
 * beside each other.
 */
import { loadRowParts } from '#store/row-parts.ts';
import { deniedPrefixes } from '#domain/files/path-rules.ts';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createCallRules } from '#policy/call-rules.ts';
import { type Config, loadConfig } from '#config';
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import { createCatalog, loadTools } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { createAgentCatalogs, loadToolSources } from '#policy/agent-catalogs.ts';
import type { ChannelDeps } from '#features/channels/activities/visit-service.ts';
import { createEgress } from '#activities/egress/create-egress.ts';
import { createWorkspaceAccess } from '#activities/workspace/workspace-access.ts';
import { createModels } from '#activities/model/model-catalog.ts';
import { insertApiKey, insertTenant } from '#store/api-key-store.ts';
import type { KeySettings } from '#store/secrets/master-key.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import type { Gateway } from '#domain/gateway.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { insertEgressRow } from '#store/egress-store.ts';
import { createEventNotifier } from '#store/event-notifier.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { hashSecret, makeKeyId, makeSecret } from '#api/server/auth.ts';
import { createGateway } from '#temporal/gateway.ts';
import { connectTemporal, type TemporalAccess } from '#temporal/client.ts';
import { createApiParts } from '#api/api-parts.ts';
import type { Api, ApiDeps, ApiSettings, RuleSettings } from '#api/deps.ts';
import { createEventFeed } from '#api/event-feed.ts';
import { createMetrics } from '#api/server/metrics.ts';
import { createServer } from '#api/server/server.ts';
import { createToolDirectory } from '#api/tool-directory.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { isPlainEngine } from './engine.ts';
import { type LiveWorker, type LiveWorkerOptions, startLiveWorker } from './live-worker.ts';
import { createTestDatabase } from './test-database.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else text; tests read fields of answers of every shape. */
  readonly body: any;
}

export interface AskOptions {
  readonly body?: unknown;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestApi {
  readonly url: string;
  readonly app: Api;
  readonly deps: ApiDeps;
  readonly pool: Pool;
  readonly tenant: string;
  /** Secret of an admin key of the tenant; used when a request names no other. */
  readonly key: string;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  makeKey(
    scopes: readonly Scope[],
    options?: { readonly tenant?: string; readonly user?: string; readonly expiresAt?: string },
  ): Promise<string>;
  /** Creates a second tenant with an admin key. */
  makeTenant(): Promise<{ readonly tenant: string; readonly key: string }>;
  stop(): Promise<void>;
}

export interface TestApiOptions {
  readonly settings?: Partial<ApiSettings>;
  /** The environment of the worker; of it, the API has what says whether users share sessions. */
  readonly env?: LiveWorkerOptions['env'];
  readonly temporal?: TemporalAccess;
  readonly codec?: ApiDeps['codec'];
  readonly workspaceRoot?: string;
  /** Where large artifacts are. */
  readonly artifacts?: Config['artifacts'];
  /** The setting of the worker. */
  readonly egress?: RuleSettings['egress'];
  /** The web console, which is absent by default. */
  readonly console?: Partial<Config['console']>;
  /** Identity providers whose tokens are accepted. */
  readonly oidc?: Config['oidc'];
  readonly evidence?: Config['evidence'];
  /** Where chat services are. */
  readonly services?: ChannelDeps['services'];
  /** If present, the API logs everything to it. */
  readonly logs?: ApiDeps['logs'];
}

/** Starts it without a worker, for what the API does by itself. Nothing accepts messages. */
export async function startApi(options: TestApiOptions = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const tenant = 'default';
  await insertTenant(database.pool, tenant, 'Default');
  const temporal = options.temporal ?? connectToTestServer(`nobody-${randomBytes(5).toString('hex')}`);
  const api = await serve({ ...database, tenant, temporal }, options);
  return {
    ...api,
    async stop() {
      await api.stop();
      await temporal.close();
      await database.drop();
    },
  };
}

export interface Stack extends TestApi {
  readonly worker: LiveWorker;
}

/** `settings` as text are those of the worker, and as an object those of the API. */
interface StackOptions extends Omit<TestApiOptions, 'settings'>, Omit<LiveWorkerOptions, 'settings'> {
  readonly settings?: string | Partial<ApiSettings>;
}

/** Starts everything: API, worker, Temporal, Postgres. */
export async function startStack({ settings, ...options }: StackOptions = {}): Promise<Stack> {
  const [ofWorker, ofApi] = typeof settings === 'string' ? [settings, {}] : [undefined, settings];
  const worker = await startLiveWorker({ ...options, settings: ofWorker });
  const { pool, tenant, temporal } = worker;
  const url = String(pool.options.connectionString);
  const parts = { pool, url, tenant, temporal: options.temporal ?? temporal };
  const api = await serve(parts, { ...options, settings: ofApi }, worker);
  return {
    ...api,
    worker,
    async stop() {
      await api.stop();
      await worker.close();
    },
  };
}

interface Parts {
  readonly pool: Pool;
  readonly url: string;
  readonly tenant: string;
  readonly temporal: TemporalAccess;
}

/** The settings of features' parts. */
function configOf(
  {
    egress = {},
    services = {},
    artifacts,
    settings,
    console = { enabled: false },
    oidc,
    evidence,
    env = {},
  }: TestApiOptions,
  cwd: string,
): Config {
  const config = loadConfig({ env, cwd });
  return {
    ...config,
    workspaceRoot: cwd,
    egress,
    channels: services,
    artifacts: artifacts ?? config.artifacts,
    oidc: oidc ?? config.oidc,
    evidence: evidence ?? config.evidence,
    api: { ...config.api, publicUrl: settings?.publicUrl },
    console: { ...config.console, ...console },
  } as Config;
}

function hasFastPath({ env = {} }: TestApiOptions): boolean {
  return !isPlainEngine() && env['TEMPOCLAW_FAST_PATH'] !== 'false';
}

function isShared(env: TestApiOptions['env'] = {}): boolean {
  return env['TEMPOCLAW_SHARED_SESSIONS'] === 'true';
}

async function serve(
  parts: Parts,
  options: TestApiOptions & Pick<LiveWorkerOptions, 'tools' | 'features'>,
  worker?: LiveWorker,
): Promise<TestApi> {
  const { pool, tenant, temporal } = parts;
  const { features = FEATURES } = options;
  const ignore = (): void => undefined;
  const feed = createEventFeed({ databaseUrl: parts.url, pool, onError: ignore });
  const notifier = createEventNotifier(pool, ignore);
  const rows = await loadRowParts(features);
  const secrets = await openSecrets({
    rows,
    settings: worker?.keys ?? ownKeys(),
    databaseUrl: parts.url,
    pool,
    deploymentValues: [],
    onError: ignore,
  });
  const catalog = createCatalog([
    ...(await loadTools(features)),
    ...(worker?.probes.tools ?? []),
    ...(options.tools ?? []),
  ]);
  const catalogs = createAgentCatalogs({
    sources: await loadToolSources(features),
    pool,
    catalog,
    changes: secrets.changes,
    onError: ignore,
  });
  const root = options.workspaceRoot ?? worker?.workspaceRoot ?? '/nowhere';
  const egress = createEgress({ resolve: resolveHost, record: (row) => insertEgressRow(pool, row) });
  const config = configOf(options, root);
  const log = { info: ignore, warn: ignore };
  const tokenSecret = worker?.tokenSecret ?? 'of nobody';
  const core = { config, pool, temporal, secrets, egress, tokenSecret, log };
  const ofFeatures = await createApiParts(features, core);
  const deps: ApiDeps = {
    ...ofFeatures.deps,
    features,
    rows,
    gateway: gatewayOf(parts, secrets.changes, worker),
    pool,
    temporal,
    feed,
    notifier,
    secrets,
    tokenSecret,
    metrics: createMetrics(ofFeatures.gauges),
    models: worker?.models ?? createModels({ providers: {} }),
    tools: createToolDirectory(catalog, catalogs),
    rules: createCallRules({ catalog, tools: {} }),
    policy: { catalogs, settings: { tools: {}, egress: options.egress } },
    workspaces: createWorkspaceAccess({
      root,
      deniedPaths: deniedPrefixes(),
      follow: false,
      pool,
      journalDir: `${root}/.journal`,
      scrubberOf: secrets.vault.scrubberOf,
    }),
    settings: {
      rateLimitPerMinute: 0,
      bodyLimitBytes: 1_048_576,
      corsOrigins: [],
      // The hostile requests of the vectors use this name.
      allowedHosts: ['api.test'],
      temporalUiUrl: 'http://ui.test:8233/',
      temporalNamespace: 'default',
      sharedSessions: isShared(options.env),
      fastPath: hasFastPath(options),
      budgets: [],
      ...options.settings,
    },
    codec: options.codec,
    logLevel: options.logs ? 'trace' : 'silent',
    logs: options.logs,
  };
  const app = await createServer(deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const makeKey: TestApi['makeKey'] = async (scopes, input = {}) => {
    const secret = makeSecret();
    await insertApiKey(forTenant(pool, input.tenant ?? tenant), {
      id: makeKeyId(),
      name: `test ${scopes.join(' ')}`,
      user: input.user ?? null,
      hash: hashSecret(secret),
      scopes,
      expiresAt: input.expiresAt ?? null,
    });
    return secret;
  };
  const key = await makeKey(['admin']);
  return {
    url,
    app,
    deps,
    pool,
    tenant,
    key,
    makeKey,
    ask: (method, path, options = {}) => ask(url, method, path, { key, ...options }),
    async makeTenant() {
      const other = `t${randomBytes(5).toString('hex')}`;
      await insertTenant(pool, other, other);
      return { tenant: other, key: await makeKey(['admin'], { tenant: other }) };
    },
    async stop() {
      await app.close();
      await feed.close();
      await notifier.close();
      await secrets.close();
    },
  };
}

/** The worker's gateway, with its settings; an API alone has none. */
function gatewayOf(
  { pool, tenant, temporal }: Parts,
  changes: ChangeFeed,
  worker: LiveWorker | undefined,
): Gateway {
  if (worker) return worker.gateway;
  const ignore = (): void => undefined;
  return createGateway({
    pool,
    temporal,
    changes,
    settings: {
      config: { temporal: { taskQueue: 'nobody' } },
      reload: () => ({ applied: [], restart: [] }),
      shown: ignore,
    },
    operator: tenant,
    log: { info: ignore, warn: ignore },
  });
}

function ownKeys(): KeySettings {
  const key = randomBytes(32).toString('base64');
  return { stateDir: '/nonexistent', encryption: { key, previousKeys: [] } };
}

function connectToTestServer(taskQueue: string): TemporalAccess {
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  if (!address) throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests with `npm test`');
  return connectTemporal({ address, namespace: 'default', taskQueue });
}

async function ask(url: string, method: string, path: string, options: AskOptions): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : text,
  };
}
