/** The composition root of the API: real parts from settings, for the process and for tests of the whole stack. */
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config';
import { childEnvironment, deploymentValues, temporalConnection } from '#config';
import type { LogStream } from '#store/secrets/log-stream.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { createCallRules } from '#policy/call-rules.ts';
import { createHostPrograms } from '#policy/host-programs.ts';
import { loadCatalog } from '#policy/catalog.ts';
import { createAgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import { judgePath } from '#activities/workspace/judge-path.ts';
import { workspaceOfAgent } from '#activities/workspace/workspace-of-agent.ts';
import { createModels } from '#activities/model/model-catalog.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { createEventNotifier } from '#store/event-notifier.ts';
import { createPool } from '#store/pool.ts';
import { connectTemporal } from '#temporal/client.ts';
import type { ApiDeps } from './deps.ts';
import { createEventFeed } from './event-feed.ts';
import { createMetrics } from './metrics.ts';
import { createModelDirectory } from './model-directory.ts';
import { createPayloadCodec, dataConverterOf } from '#temporal/payload-codec.ts';
import { type CodecAccess, codecToken } from './routes/codec.ts';
import { createToolDirectory } from './tool-directory.ts';

export interface OwnedDeps {
  readonly deps: ApiDeps;
  /** To be called after the server is closed. */
  close(): Promise<void>;
}

/** Nothing is waited for: Postgres and Temporal may come later. */
export async function createDeps(
  config: Config,
  databaseUrl: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
  logs?: LogStream,
): Promise<OwnedDeps> {
  const pool = createPool({
    url: databaseUrl,
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
  const secrets = await openSecrets({
    settings: config,
    databaseUrl,
    pool,
    deploymentValues: deploymentValues(config),
    onError: (error) => log.warn({ err: error }, 'changes of secrets are not heard of at the moment'),
  });
  logs?.hide(secrets.vault.scrubberOfAll);
  const dataConverter = dataConverterOf(config.encryption);
  const temporal = connectTemporal({
    ...temporalConnection(config),
    namespace: config.temporal.namespace,
    taskQueue: config.temporal.taskQueue,
    lingerSeconds: config.temporal.lingerSeconds,
    dataConverter,
  });
  const [tokenSecret] = tokenSecrets(config.approvals.decisionToken.secret, secrets.masterKeys);
  if (tokenSecret === undefined) throw new Error('there is no master key');
  const catalog = await loadCatalog();
  const catalogs = createAgentCatalogs({
    pool,
    catalog,
    changes: secrets.changes,
    onError: (error) => log.warn({ err: error }, 'custom tools could not be read'),
  });
  const deps: ApiDeps = {
    pool,
    temporal,
    feed,
    notifier,
    secrets,
    codec: codecAccess(config.encryption),
    metrics: createMetrics(),
    models: createModelDirectory(createModels(config.models, config.rehearsal)),
    tools: createToolDirectory(catalog, catalogs),
    rules: createCallRules({ catalog, tools: config.tools, exec: config.exec }),
    policy: {
      catalogs,
      settings: { tools: config.tools, exec: config.exec, sandbox: config.sandbox },
      workspaceOfAgent: (tenant, agent) => workspaceOfAgent(config.workspaceRoot, tenant, agent),
      judgePath,
      resolveProgram: createHostPrograms(childEnvironment({}), config.workspaceRoot),
    },
    settings: {
      rateLimitPerMinute: config.api.rateLimitPerMinute,
      bodyLimitBytes: config.api.bodyLimitBytes,
      corsOrigins: config.api.corsOrigins,
      allowedHosts: [config.api.host, ...config.api.allowedHosts],
      publicUrl: config.api.publicUrl,
      temporalUiUrl: config.temporal.uiUrl,
      temporalNamespace: config.temporal.namespace,
      sharedSessions: config.sessions.shared,
      stateDir: config.stateDir,
    },
    tokenSecret,
    logLevel: config.log.level,
    logs,
  };
  return {
    deps,
    async close() {
      await feed.close();
      await notifier.close();
      await secrets.close();
      await temporal.close();
      await pool.end();
    },
  };
}

function codecAccess({ key, previousKeys }: Config['encryption']): CodecAccess | undefined {
  if (key === undefined) return undefined;
  return { codec: createPayloadCodec([key, ...previousKeys]), token: codecToken(key) };
}
