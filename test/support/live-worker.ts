/**
 * A real worker on the run's Temporal and Postgres, with a tenant, a task queue and a database of its own, so that test
 * files run beside each other. Messages reach it the way any client sends them.
 */
import type { InlineHints } from '#features/fast-path/contract.ts';
import type { Feature } from '#domain/feature.ts';
import { loadRowParts } from '#store/row-parts.ts';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { createCatalog, loadTools } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { createAgentCatalogs, loadToolSources } from '#policy/agent-catalogs.ts';
import type { Tool } from '#policy/define-tool.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { createModels, type Models } from '#activities/model/model-catalog.ts';
import { type HostWall, withoutWall } from '@tempoclaw/sandbox';
import type { KeySettings } from '#store/secrets/master-key.ts';
import { openSecrets } from '#store/secrets/open-secrets.ts';
import { createEventNotifier } from '#store/event-notifier.ts';
import { readEvents } from '#store/event-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { connectTemporal, type TemporalAccess } from '#temporal/client.ts';
import { createGateway } from '#temporal/gateway.ts';
import { dataConverterOf } from '#temporal/payload-codec.ts';
import { SEARCH_ATTRIBUTES } from '#domain/search-attributes.ts';
import { registerSearchAttributes } from '@tempoclaw/dev-services';
import { createLiveSettings, type LiveSettings } from '#config/live-settings.ts';
import { deploymentValues, loadConfig, userCacheDir } from '#config';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import type { Gateway } from '#domain/gateway.ts';
import type { StoredEvent } from '#domain/event.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import type { Receipt, SubmitInput, TurnState } from '#domain/turn/turn.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { loadWorkflowBundle } from '#workers/bundle.ts';
import { createMachine } from '#workers/create-machine.ts';
import { createWorker } from '#workers/create-worker.ts';
import { engineVariables } from './engine.ts';
import { createProbes, type Probes } from './probe-tools.ts';
import { growingWait } from './processes.ts';
import { quietRuntime } from './quiet-runtime.ts';
import { replayAll } from './replay-all.ts';
import { SharedWorker } from './shared-threads.ts';
import { createTestDatabase } from './test-database.ts';

/** Far longer than anything in a test takes, so that only a hang reaches it. */
const PATIENCE_MS = 120_000;

export interface LiveWorkerOptions {
  /** Rehearsal scripts of the test, by name, as YAML. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** The agent `main` follows the message and asks before `poke` runs; these are added or replace it. */
  readonly agents?: readonly (Partial<AgentConfig> & { readonly key: string })[];
  readonly tools?: readonly Tool[];
  /** Settings as an environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The text of a `tempoclaw.yaml`. */
  readonly settings?: string;
  /** The Temporal server, in place of the run's. */
  readonly temporalAddress?: string;
  /** Threads for workflows as they are outside of tests: its own, and with stacks for the web UI of Temporal. */
  readonly ownThreads?: boolean;
  /** Changes the code of the workflows. */
  readonly changeWorkflows?: (code: string) => string;
  /**
   * Another worker, whose tenant, queue, database and master key this one shares; its agents exist there. This one is
   * closed first.
   */
  readonly beside?: Pick<LiveWorker, 'tenant' | 'databaseUrl'>;
  /** All of the build's by default. */
  readonly features?: readonly Feature[];
  /** The wall around commands on this machine; by default none, which is treated as a complete one. */
  readonly wall?: HostWall;
}

export interface TurnRow {
  readonly id: string;
  readonly status: string;
  readonly steps: number;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly ended_at: Date | null;
}

export interface CallRow {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  readonly verdict: string;
  readonly state: string;
  readonly ok: boolean | null;
  readonly code: string | null;
  readonly result: string | null;
  readonly step: number;
}

export interface LiveWorker {
  readonly tenant: string;
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly client: Client;
  readonly temporal: TemporalAccess;
  readonly taskQueue: string;
  readonly probes: Probes;
  /** Its tenant is the operator's. */
  readonly gateway: Gateway;
  /** Its `tempoclaw.yaml`. */
  readonly settingsFile: string;
  readonly models: Models;
  /** Where its master key is, for an API that needs the same key. */
  readonly keys: KeySettings;
  /** The root of all its workspaces. */
  readonly workspaceRoot: string;
  /** The secret of its decision tokens. */
  readonly tokenSecret: string;
  /** Sends a message of a client that is not our API: with its text, by update-with-start. */
  say(session: string, text: string, options?: Partial<SubmitInput>, engine?: InlineHints): Promise<Receipt>;
  /** Resolves when the turn has ended, as its row says. */
  ended(turnId: string): Promise<TurnRow>;
  /** Resolves when `probe` returns a value; fails after two minutes. */
  until<T>(what: string, probe: () => Promise<T | undefined> | T | undefined): Promise<T>;
  calls(turnId: string): Promise<readonly CallRow[]>;
  turns(session: string): Promise<readonly TurnRow[]>;
  /** User messages of the session that a turn took, in the order of the transcript. */
  heard(session: string): Promise<readonly { id: string; turn_id: string; step: number; text: string }[]>;
  events(session: string): Promise<readonly StoredEvent[]>;
  state(session: string): Promise<TurnState | undefined>;
  /** The approval that the session's turn waits for; resolves when its workflow runs. */
  approvalOf(session: string): Promise<string>;
  /** Ends only the worker, as an operator does; what it runs gets its grace time. */
  shutDown(): Promise<void>;
  /** Ends the worker, and replays everything that it did. */
  close(): Promise<void>;
}

const FOLLOWING: AgentConfig = {
  key: 'main',
  type: 'open',
  model: 'rehearsal/follow',
  tools: { ask: [{ tool: 'poke', reason: 'test' }] },
};

const bundles = new Map<readonly Feature[], ReturnType<typeof loadWorkflowBundle>>();

/** Bundles each set of features once per process. */
function bundleOf(features: readonly Feature[]): ReturnType<typeof loadWorkflowBundle> {
  const known = bundles.get(features);
  if (known) return known;
  const loading = loadWorkflowBundle(join(userCacheDir(), 'test-bundles'), features);
  bundles.set(features, loading);
  return loading;
}

/** The kind of worker of its settings, or one whose threads the tests of this process share. */
function workerClass(ofSettings: boolean | undefined): typeof SharedWorker | undefined {
  return ofSettings ? undefined : SharedWorker;
}

async function settingsOf(
  options: LiveWorkerOptions,
  folder: string,
  {
    address,
    databaseUrl,
    tenant,
  }: { readonly address: string; readonly databaseUrl: string; readonly tenant: string },
): Promise<LiveSettings> {
  await writeFile(join(folder, 'tempoclaw.yaml'), options.settings ?? '{}');
  for (const [name, text] of Object.entries(options.scripts ?? {}))
    await writeFile(join(folder, `${name}.yaml`), text);
  const input = {
    // The programs of this machine must not decide where commands run, or whether decisions need a token. An agent may
    // still request a box.
    env: {
      TEMPOCLAW_SANDBOX: 'off',
      TEMPOCLAW_DECISION_TOKEN_REQUIRED: 'false',
      // What a test leaves in a tool must not delay the worker's end.
      TEMPOCLAW_SHUTDOWN_GRACE_SECONDS: '1',
      ...engineVariables(),
      ...options.env,
      TEMPORAL_ADDRESS: address,
      DATABASE_URL: databaseUrl,
    },
    cwd: folder,
    flags: { taskQueue: `q-${tenant}` },
  };
  return createLiveSettings(loadConfig(input), () => loadConfig(input));
}

function addressOfRun(): string {
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  if (!address) throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests with `npm test`');
  return address;
}

export async function startLiveWorker(options: LiveWorkerOptions = {}): Promise<LiveWorker> {
  quietRuntime();
  const address = options.temporalAddress ?? addressOfRun();
  const { features = FEATURES } = options;
  const tenant = options.beside?.tenant ?? `t${randomBytes(5).toString('hex')}`;
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-live-'));
  const database = await createTestDatabase(options.beside?.databaseUrl);
  const { pool } = database;
  await pool.query('insert into tenants values ($1, $1) on conflict do nothing', [tenant]);
  for (const agent of [FOLLOWING, ...(options.agents ?? [])]) await writeAgent(pool, tenant, agent);

  const live = await settingsOf(options, folder, { address, databaseUrl: database.url, tenant });
  const { config } = live;
  await writeKey(database.url, config.stateDir);
  const connection = await NativeConnection.connect({ address });
  const clientConnection = await Connection.connect({ address });
  await registerSearchAttributes(clientConnection, config.temporal.namespace, SEARCH_ATTRIBUTES);
  const probes = createProbes();
  const notifier = createEventNotifier(pool, () => undefined);
  const rows = await loadRowParts(features);
  const secrets = await openSecrets({
    rows,
    settings: config,
    databaseUrl: database.url,
    pool,
    deploymentValues: deploymentValues(config),
    onError: () => undefined,
  });
  const dataConverter = dataConverterOf(config.encryption);
  const encoding = dataConverter ? { dataConverter } : {};
  const { bundle: ours, buildId } = await bundleOf(features);
  const bundle = options.changeWorkflows ? { code: options.changeWorkflows(ours.code) } : ours;
  // The wall has tests of its own; here it would only cost each start a second.
  const host: HostWall = options.wall ?? { ...withoutWall(), wall: 'files and network' };
  const { namespace, taskQueue, lingerSeconds } = config.temporal;
  const temporal = connectTemporal({ address, namespace, taskQueue, lingerSeconds, ...encoding });
  const machine = await createMachine(config, pool, secrets.vault, host, features);
  const catalog = createCatalog([...(await loadTools(features)), ...probes.tools, ...(options.tools ?? [])]);
  const models = createModels(config.models, { userDir: folder }, secrets.vault.resolveSetting);
  const gateway = createGateway({
    pool,
    temporal,
    changes: secrets.changes,
    settings: live,
    operator: tenant,
    log: { info: () => undefined, warn: () => undefined },
  });
  const worker = await createWorker({
    log: { warn: () => undefined },
    features,
    config,
    gateway,
    connection,
    belongs: async () => undefined,
    temporal,
    pool,
    notifier,
    catalog,
    catalogs: createAgentCatalogs({
      sources: await loadToolSources(features),
      pool,
      catalog,
      changes: secrets.changes,
      onError: () => undefined,
    }),
    models,
    machine,
    changes: secrets.changes,
    rows,
    sealer: secrets.sealer,
    vault: secrets.vault,
    masterKeys: secrets.masterKeys,
    bundle,
    buildId,
    ...encoding,
    sdkWorker: workerClass(config.worker.lean || options.ownThreads),
  });
  const running = worker.run();
  let isEnding = false;
  const shutDown = (): Promise<void> => {
    if (!isEnding) worker.shutdown();
    isEnding = true;
    return running;
  };
  const client = new Client({ connection: clientConnection, namespace, ...encoding });

  return {
    ...readings(pool, tenant),
    tenant,
    databaseUrl: database.url,
    pool,
    client,
    temporal,
    taskQueue,
    probes,
    gateway,
    settingsFile: join(folder, 'tempoclaw.yaml'),
    workspaceRoot: config.workspaceRoot,
    models,
    keys: { stateDir: config.stateDir, encryption: config.encryption },
    say(session, text, input = {}, engine) {
      const id = input.id ?? `m-${randomBytes(8).toString('hex')}`;
      const message = { preview: text.slice(0, 100), ...input, id, text };
      return temporal.submit(tenant, session, message, { agent: 'main', summary: session, engine });
    },
    state: (session) => temporal.state(tenant, session),
    approvalOf: (session) =>
      until('an approval', async () => {
        const { rows } = await pool.query<{ id: string }>(
          `select id from approvals where tenant_id = $1 and session_key = $2 and status = 'pending'
           order by created_at limit 1`,
          [tenant, session],
        );
        const [request] = rows;
        if (!request) return undefined;
        // It is requested a moment before its workflow exists.
        const { name } = await client.workflow
          .getHandle(`approval/${request.id}`)
          .describe()
          .then(
            ({ status }) => status,
            () => ({ name: 'MISSING' }),
          );
        return name === 'MISSING' ? undefined : request.id;
      }),
    shutDown,
    tokenSecret:
      tokenSecrets(config.approvals.decisionToken.secret, secrets.masterKeys)[0] ?? 'there is always one',
    async close() {
      await endSessions(client, tenant);
      await shutDown();
      await worker.close();
      await machine.world.processes.stopOwn();
      await machine.workspaces.close();
      host.close();
      try {
        await replayAll(client, tenant, bundle, encoding, options.changeWorkflows !== undefined);
      } finally {
        await notifier.close();
        await secrets.close();
        await temporal.close();
        await clientConnection.close();
        await connection.close();
        await database.drop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

type Readings = Pick<LiveWorker, 'ended' | 'until' | 'calls' | 'turns' | 'heard' | 'events'>;

/** Reads the rows. */
function readings(pool: Pool, tenant: string): Readings {
  const select = async <Row extends object>(text: string, key: string): Promise<Row[]> =>
    (await pool.query<Row>(text, [tenant, key])).rows;
  return {
    until,
    ended: (turnId) =>
      until(`the end of ${turnId}`, async () => {
        const [turn] = await select<TurnRow>('select * from turns where tenant_id = $1 and id = $2', turnId);
        return turn?.ended_at ? turn : undefined;
      }),
    calls: (turnId) =>
      select('select * from tool_calls where tenant_id = $1 and turn_id = $2 order by step, index', turnId),
    turns: (session) =>
      select(
        'select * from turns where tenant_id = $1 and session_key = $2 order by started_at nulls last',
        session,
      ),
    heard: (session) =>
      select(
        `select * from messages where tenant_id = $1 and session_key = $2 and role = 'user' and position is not null
         order by position`,
        session,
      ),
    events: (session) => readEvents(forTenant(pool, tenant), session, 0, 10_000),
  };
}

async function until<T>(what: string, probe: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const wait = growingWait();
  for (const deadline = Date.now() + PATIENCE_MS; ; await wait()) {
    const value = await Promise.resolve(probe()).catch(whenBusy);
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`${what} did not come about`);
  }
}

/** "Try again" is what a busy server answers, so this tries again. */
function whenBusy(error: unknown): undefined {
  if (!(error instanceof Failure && error.type === 'Unavailable')) throw error;
}

/** The key is the database’s, so that workers that share it open what the others have sealed. */
async function writeKey(databaseUrl: string, stateDir: string): Promise<void> {
  await mkdir(stateDir, { recursive: true });
  const key = createHash('sha256').update(new URL(databaseUrl).pathname).digest();
  await writeFile(join(stateDir, 'sealing.key'), key, { mode: 0o600 });
}

async function writeAgent(
  pool: Pool,
  tenant: string,
  agent: Partial<AgentConfig> & { readonly key: string },
): Promise<void> {
  const config = { ...FOLLOWING, ...agent };
  await pool.query(
    `with made as (
       insert into agents (tenant_id, key, revision, config) values ($1, $2, 1, $3)
       on conflict (tenant_id, key) do update set revision = agents.revision + 1, config = $3 returning revision)
     insert into agent_revisions (tenant_id, agent_key, revision, config) select $1, $2, revision, $3 from made`,
    [tenant, agent.key, JSON.stringify(config)],
  );
}

/** What a failed test left behind must not delay the worker's end. */
async function endSessions(client: Client, tenant: string): Promise<void> {
  const query = `TempoclawTenant = '${tenant}' and ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    await client.workflow
      .getHandle(workflowId)
      .terminate('the test is over')
      .catch(() => undefined);
  }
}

/** The workflow id of a session of this worker. */
export function workflowIdOf(worker: Pick<LiveWorker, 'tenant'>, session: string): string {
  return sessionWorkflowId(worker.tenant, session);
}
