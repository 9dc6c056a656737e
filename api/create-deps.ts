/**
 * The composition root of the API: it makes real parts from settings, for the process and for tests of the whole stack.
 */
import { loadRowParts } from '#store/row-parts.ts';
import { deniedPrefixes } from '#domain/files/path-rules.ts';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config';
import { FEATURES } from '#features';
import { deploymentValues, temporalConnection } from '#config';
import type { LiveSettings } from '#config/live-settings.ts';
import type { LogStream } from '#store/secrets/log-stream.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { createCallRules } from '#policy/call-rules.ts';
import { loadCatalog } from '#policy/catalog.ts';
import { createAgentCatalogs, loadToolSources } from '#policy/agent-catalogs.ts';
import { createEgress, type Egress } from '#activities/egress/create-egress.ts';
import { createWorkspaceAccess } from '#activities/workspace/workspace-access.ts';
import { createModels } from '#activities/model/model-catalog.ts';
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import { tokenSecrets } from '#policy/decision-token.ts';
import { createEventNotifier } from '#store/event-notifier.ts';
import { readInstallation } from '#store/installation-store.ts';
import { insertEgressRow, type NewEgressRow } from '#store/egress-store.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';
import { openGateway } from '#temporal/gateway.ts';
import { connectTemporal } from '#temporal/client.ts';
import { createApiParts } from './api-parts.ts';
import type { ApiDeps, CodecAccess } from './deps.ts';
import { createEventFeed } from './event-feed.ts';
import { createMetrics } from './server/metrics.ts';
import { createPayloadCodec, dataConverterOf } from '#temporal/payload-codec.ts';
import { codecToken } from './routes/codec.ts';
import { createToolDirectory } from './tool-directory.ts';

export interface OwnedDeps {
  readonly deps: ApiDeps;
  /** Must be called before the API listens, when the database is available. */
  start(): Promise<void>;
  /** Must be called after the server is closed. */
  close(): Promise<void>;
}

/** Reads the id of the installation from Postgres. Temporal may become available later. */
export async function createDeps(
  live: LiveSettings,
  databaseUrl: string,
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  logs?: LogStream,
): Promise<OwnedDeps> {
  const { config } = live;
  const pool = createPool({
    url: databaseUrl,
    poolerUrl: config.database.poolerUrl,
    size: config.database.poolSize,
    applicationName: 'tempoclaw-api',
    onIdleError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  const feed = createEventFeed({
    databaseUrl,
    pool,
    onError: (error) => log.warn({ err: error }, 'events are not heard of at the moment'),
  });
  const notifier = createEventNotifier(pool, (error) =>
    log.warn({ err: error }, 'readers were not told of events'),
  );
  const rows = await loadRowParts(FEATURES);
  const secrets = await openSecrets({
    rows,
    settings: config,
    databaseUrl,
    pool,
    deploymentValues: deploymentValues(config),
    onError: (error) => log.warn({ err: error }, 'changes of secrets are not heard of at the moment'),
  });
  logs?.hide(secrets.vault.scrubberOfAll);
  const dataConverter = dataConverterOf(config.encryption);
  const { namespace, taskQueue, lingerSeconds } = config.temporal;
  const installation = await readInstallation(pool);
  const place = { ...temporalConnection(config), namespace, taskQueue, lingerSeconds, installation };
  const temporal = connectTemporal({ ...place, dataConverter });
  const [tokenSecret] = tokenSecrets(config.approvals.decisionToken.secret, secrets.masterKeys);
  if (tokenSecret === undefined) throw new Error('there is no master key');
  const catalog = await loadCatalog(FEATURES);
  const catalogs = createAgentCatalogs({
    sources: await loadToolSources(FEATURES),
    pool,
    catalog,
    changes: secrets.changes,
    onError: (error) => log.warn({ err: error }, 'custom tools could not be read'),
  });
  const egress = openEgress(pool, log);
  const parts = await createApiParts(FEATURES, {
    config,
    pool,
    temporal,
    secrets,
    egress,
    tokenSecret,
    log,
  });
  const deps: ApiDeps = {
    ...parts.deps,
    features: FEATURES,
    rows,
    gateway: openGateway({ pool, temporal, changes: secrets.changes, settings: live, log }),
    pool,
    temporal,
    feed,
    notifier,
    secrets,
    codec: codecAccess(config.encryption),
    metrics: createMetrics(parts.gauges),
    models: createModels(config.models, config.rehearsal),
    tools: createToolDirectory(catalog, catalogs),
    rules: createCallRules({ catalog, ...rulesOf(config) }),
    policy: { catalogs, settings: rulesOf(config) },
    workspaces: createWorkspaceAccess({
      root: config.workspaceRoot,
      deniedPaths: rulesOf(config).deniedPaths,
      follow: config.workspaces.follow !== 'none',
      pool,
      journalDir: join(config.stateDir, 'changes'),
      scrubberOf: secrets.vault.scrubberOf,
    }),
    settings: settingsOf(config),
    tokenSecret,
    logLevel: config.log.level,
    logs,
  };
  return {
    deps,
    start: parts.start,
    async close() {
      await feed.close();
      await notifier.close();
      await secrets.close();
      await temporal.close();
      await pool.end();
    },
  };
}

/** Returns the objects of the settings themselves, which a reload changes in place. */
function rulesOf({ tools, exec, sandbox, egress, hooks }: Config) {
  return { tools, exec, deniedPaths: deniedPrefixes(tools.denied_paths), sandbox, egress, hooks };
}

function settingsOf({ api, temporal, sessions, worker, budgets, stateDir }: Config): ApiDeps['settings'] {
  return {
    rateLimitPerMinute: api.rateLimitPerMinute,
    bodyLimitBytes: api.bodyLimitBytes,
    corsOrigins: api.corsOrigins,
    allowedHosts: [api.host, ...api.allowedHosts],
    trustedProxies: api.trustedProxies,
    publicUrl: api.publicUrl,
    temporalUiUrl: temporal.uiUrl,
    temporalNamespace: temporal.namespace,
    sharedSessions: sessions.shared,
    fastPath: worker.fastPath,
    budgets,
    stateDir,
  };
}

function openEgress(pool: Pool, log: Pick<FastifyBaseLogger, 'warn'>): Egress {
  const record = (row: NewEgressRow): Promise<void> =>
    insertEgressRow(pool, row).catch((error: unknown) =>
      log.warn({ err: error }, 'what was asked of the outside was not kept'),
    );
  return createEgress({ resolve: resolveHost, record });
}

function codecAccess({ key, previousKeys }: Config['encryption']): CodecAccess | undefined {
  if (key === undefined) return undefined;
  return { codec: createPayloadCodec([key, ...previousKeys]), token: codecToken(key) };
}
