/** What the parts of a worker share: rows, rules, scrubbers, files, egress. */
import type { FeaturePoints } from '#domain/feature.ts';
import { deniedPrefixes } from '#domain/files/path-rules.ts';
import { createCallReads } from '#activities/tool-call/call-reads.ts';
import { createKnownAddresses } from '#activities/tool-call/known-addresses.ts';
import { childEnvironment, type Config } from '#config';
import type { BudgetGuard } from '#activities/budgets/budget-guard.ts';
import type { Embed } from '#activities/model/embed.ts';
import type { SendSystemMessage } from '#activities/turn/send-system-message.ts';
import type { BudgetLedger } from '#store/budgets/budget-ledger.ts';
import type { Models } from '#activities/model/model-catalog.ts';
import { createContextFiles } from '#activities/prompt/context-files.ts';
import { createTranscriptCache } from '#activities/prompt/transcript-cache.ts';
import type { PlaceOf } from '#activities/tool-call/call-deps.ts';
import { createBoundFiles } from '#activities/tool-call/bound-files.ts';
import { createPathProblem } from '#activities/approvals/edited-path.ts';
import { createWorkspaceOf } from '#activities/workspace/workspace-folder.ts';
import type { Gateway } from '#domain/gateway.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { createCallRules } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import { createHostPrograms } from '#policy/host-programs.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import type { ChangeFeed } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { RowParts } from '#store/row-parts.ts';
import type { Sealer } from '#store/seal.ts';
import type { Vault } from '#store/secrets/vault.ts';
import { createTurnLedger } from '#store/turns/turn-ledger.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import type { Machine } from './create-machine.ts';

/** Characters of transcripts kept in memory, over all sessions. */
const TRANSCRIPTS = 64 * 1024 * 1024;

export interface ActivityParts {
  readonly log: { warn(details: object, message: string): void };
  readonly config: Config;
  readonly pool: Pool;
  readonly notifier: EventNotifier;
  /** The native tools; `catalogs` contains them and those that tenants have added. */
  readonly catalog: Catalog;
  readonly catalogs: AgentCatalogs;
  readonly models: Models;
  readonly machine: Machine;
  /** Access to other workflows: messages to sessions, signals and updates. */
  readonly temporal: WorkflowReach &
    Pick<TemporalAccess, 'submit' | 'stop' | 'stopIdle' | 'removeRuns' | 'failLostCalls' | 'clients'>;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly changes: ChangeFeed;
  /** What features declare about their rows. */
  readonly rows: RowParts;
  readonly masterKeys: readonly Buffer[];
  readonly gateway: Gateway;
}

/** Dependencies of the parts of a worker, including those of features. */
export interface WorkerCore extends WorkerBase {
  /** What other features add at this point. Call it when it is needed, because all parts are created first. */
  extensions<Name extends keyof FeaturePoints>(name: Name): readonly FeaturePoints[Name][];
  readonly models: Models;
  readonly temporal: ActivityParts['temporal'];
  readonly notifier: EventNotifier;
  readonly masterKeys: readonly Buffer[];
  /** Sends a system message to a session. */
  readonly wake: SendSystemMessage;
  readonly budgets: BudgetGuard;
  readonly budgetLedger: BudgetLedger;
  readonly embed: Embed;
  readonly log: ActivityParts['log'];
}

export type WorkerBase = ReturnType<typeof createWorkerBase>;

/** The parts that need only the settings, the rows and the machine. */
export function createWorkerBase({
  config,
  catalog,
  catalogs,
  pool,
  notifier,
  vault,
  sealer,
  temporal,
  machine,
  changes,
  rows,
}: ActivityParts) {
  const { sandbox, workspaceRoot, tools } = config;
  const { world } = machine;
  const placeOf: PlaceOf = (own) => world.shell.placeOf(sandboxOf(sandbox, own ?? undefined));
  const perHour = Math.max(0, tools.rate_limit_per_hour ?? 0);
  const workspaceOf = createWorkspaceOf(workspaceRoot);
  const rules = createCallRules({
    catalog,
    tools,
    exec: config.exec,
    deniedPaths: deniedPrefixes(tools.denied_paths),
    resolveProgram: createHostPrograms(childEnvironment({}), workspaceRoot),
  });
  return {
    ...world,
    config,
    pool,
    onWrite: notifier.notify,
    scrubberOf: vault.scrubberOf,
    reach: temporal,
    sealer,
    catalog,
    catalogs,
    sandbox,
    machine,
    wall: machine.wall.wall,
    vault,
    changes,
    rows,
    egressSettings: config.egress,
    resolveSecret: vault.resolveSetting,
    resolveOf: vault.resolve,
    workspaceOf,
    callReads: createCallReads(pool, world.processes, deniedPrefixes(tools.denied_paths)),
    ledger: createTurnLedger(pool, notifier.notify),
    transcripts: createTranscriptCache(TRANSCRIPTS),
    contextFiles: createContextFiles(pool),
    rules,
    knownAddresses: createKnownAddresses(pool, rules),
    placeOf,
    boundFiles: createBoundFiles({ files: world.files, sandbox, workspaceOf }),
    pathProblem: createPathProblem({ files: world.files, sandbox, workspaceOf }),
    approvalSeconds: config.approvals.expirySeconds,
    defaultAgent: 'main',
    // EX-6; 0 per hour means no limit.
    rateLimit: { perHour, burst: tools.rate_limit_burst ?? Math.max(1, perHour) },
  };
}
