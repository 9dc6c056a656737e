/** Builds one worker from its parts: the composition root of all that runs in activities. */
import { randomUUID } from 'node:crypto';
import { type NativeConnection, Worker, type WorkerOptions, type WorkflowBundle } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import { childEnvironment, type Config } from '#config';
import type { TemporalAccess } from '#temporal/client.ts';
import { createBudgetDesk } from '#activities/budgets/budget-desk.ts';
import { createCallModel } from '#activities/turn/call-model.ts';
import { createCallRules } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { AgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import { createToolOfCall } from '#activities/custom-tools/tool-of-call.ts';
import type { WorldDeps } from '#activities/tool-call/tool-deps.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { createEndLostTurns } from '#activities/turn/end-lost-turns.ts';
import { createEndTurn } from '#activities/turn/end-turn.ts';
import { createReleaseAnswer } from '#activities/gates/gate-run.ts';
import type { Models } from '#activities/model/model-catalog.ts';
import { createTranscriptCache } from '#activities/prompt/transcript-cache.ts';
import { createRunCustomTool, createRunTool } from '#activities/tool-call/run-tool.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import { createHostPrograms } from '#policy/host-programs.ts';
import { whySecured } from '#activities/secure-cli/refuse-secured.ts';
import type { Vault } from '#store/secrets/vault.ts';
import { createNeedsToken } from '#activities/approvals/needs-token.ts';
import { createNoteApproval } from '#activities/approvals/note-approval.ts';
import { createSendToSession } from '#activities/turn/send-to-session.ts';
import { createFastPath } from '#activities/fast-path/create-fast-path.ts';
import { createPlainPath } from '#activities/fast-path/fast-path.ts';
import type { OwnQueue } from '#activities/fast-path/take-over.ts';
import { createTeamDesk } from '#activities/teams/team-desk.ts';
import { createStopSession } from '#activities/turn/stop-session.ts';
import type { Shell } from '#activities/process/shell.ts';
import { createSettleApproval } from '#activities/approvals/settle-approval.ts';
import { agentSandboxes } from '#store/agent-store.ts';
import { createApprovalLedger } from '#store/approval-ledger.ts';
import { createBudgetLedger } from '#store/budget-ledger.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { awaitsAnswer } from '#store/task-gate-store.ts';
import { createTurnLedger } from '#store/turn-ledger.ts';
import { createBoundFiles } from '#activities/tool-call/bound-files.ts';
import { createSweepActivities, type SweepDeps } from '#activities/sweep/sweep-activities.ts';
import { createWakeSession } from '#activities/turn/wake-session.ts';
import { hasPendingResults } from '#store/end-assignment.ts';
import { createAssignmentParts } from './create-assignments.ts';
import { createTeams } from './create-teams.ts';
import type { AgentConfig } from '#domain/agent.ts';
import { sandboxOf, type Wall } from '#domain/sandbox.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { HEARTBEAT_MS, heartbeatInterceptor } from './interceptors/heartbeat.ts';
import { scrubFailures } from './interceptors/scrub-failures.ts';
import { workspaceFolder } from '#activities/workspace/workspace-folder.ts';
import { LeanWorker } from './lean/lean-worker.ts';

/** Characters of transcripts kept in memory over all sessions. */
const TRANSCRIPTS = 64 * 1024 * 1024;

export interface WorkerParts {
  readonly config: Config;
  readonly connection: NativeConnection;
  readonly pool: Pool;
  readonly notifier: EventNotifier;
  /** The native tools; `catalogs` has them and those that tenants have made. */
  readonly catalog: Catalog;
  readonly catalogs: AgentCatalogs;
  readonly models: Models;
  /** What tools need of the world; what they need of other workflows is made here. */
  readonly tools: WorldDeps;
  readonly boxes: SweepDeps['boxes'];
  /** Around commands on this machine. */
  readonly wall: Wall;
  /** To reach other workflows: messages to sessions, signals and updates. */
  readonly temporal: WorkflowReach & Pick<TemporalAccess, 'submit'>;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly masterKeys: readonly Buffer[];
  readonly bundle: WorkflowBundle;
  /** Names the bundle's code; the version of this worker when `worker.deploymentName` is set. */
  readonly buildId: string;
  readonly dataConverter?: DataConverter;
}

/** Polls the task queue of all and, for what has begun here (fast-path/take-over.ts), one of its own. */
export async function createWorker(parts: WorkerParts): Promise<Pick<Worker, 'run' | 'shutdown'>> {
  const { config } = parts;
  const { taskQueue } = config.temporal;
  const ownQueue = config.worker.fastPath
    ? { name: `${taskQueue}/${randomUUID()}`, most: config.worker.maxConcurrentActivities }
    : undefined;
  const shared = {
    connection: parts.connection,
    namespace: config.temporal.namespace,
    activities: createActivities(parts, ownQueue),
    dataConverter: parts.dataConverter,
    interceptors: { activity: [heartbeatInterceptor, scrubFailures(parts.vault)] },
    maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentActivities,
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownGraceTime: config.worker.shutdownGraceSeconds * 1000,
  };
  const kind = config.worker.stackTraces ? Worker : LeanWorker;
  const workers = [
    await kind.create({
      ...shared,
      taskQueue,
      workflowBundle: parts.bundle,
      ...deploymentOf(config.worker.deploymentName, parts.buildId),
      maxConcurrentLocalActivityExecutions: config.worker.maxConcurrentActivities,
      maxConcurrentWorkflowTaskExecutions: config.worker.maxConcurrentWorkflowTasks,
      maxCachedWorkflows: config.worker.maxCachedWorkflows,
      // All calls of a step start at once, without a round trip each (TEMPORAL §4).
      maxEagerActivityReservationsPerWorkflowTask: 16,
      // A turn whose worker was killed is handed to another one after this (DESIGN §7).
      stickyQueueScheduleToStartTimeout: '500 milliseconds',
    }),
  ];
  if (ownQueue)
    workers.push(
      await Worker.create({
        ...shared,
        taskQueue: ownQueue.name,
        // Model calls and commands, which run already.
        maxConcurrentActivityTaskExecutions: 2 * ownQueue.most,
        maxConcurrentActivityTaskPolls: 2,
      }),
    );
  return {
    async run() {
      await Promise.all(workers.map((worker) => worker.run()));
    },
    shutdown() {
      for (const worker of workers) worker.shutdown();
    },
  };
}

/** DU-5. Open runs follow the deployment's current version: each change of the workflows replays the kept histories first. */
function deploymentOf(
  deploymentName: string | undefined,
  buildId: string,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (deploymentName === undefined) return {};
  const version = { deploymentName, buildId };
  return {
    workerDeploymentOptions: {
      version,
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

/** EX-6; 0 an hour: no limit. */
function rateLimitOf({ tools }: WorkerParts['config']): { readonly perHour: number; readonly burst: number } {
  const perHour = tools.rate_limit_per_hour ?? 0;
  return { perHour, burst: tools.rate_limit_burst ?? Math.max(1, Math.ceil(perHour / 10)) };
}

/** All activity types of the worker: the fixed ones, each native tool under its own name, and one for all others. */
function createActivities(
  parts: WorkerParts,
  ownQueue: OwnQueue | undefined,
): Record<string, (input: never) => Promise<unknown>> {
  const { config, catalog, models, pool, notifier, vault } = parts;
  const shared = sharedBy(parts);
  const approvals = createApprovalLedger(pool, notifier.poke);
  const wake = createWakeSession({
    pool,
    scrubberOf: vault.scrubberOf,
    submit: parts.temporal.submit,
    onWrite: notifier.poke,
  });
  const lost = createLostWork({ pool, onWrite: notifier.poke, reach: parts.temporal, now: parts.tools.now });
  const { assignments, links, handoffs, endCommands, ...given } = createAssignmentParts(
    parts,
    wake,
    shared.budgets,
    lost,
  );
  const teams = createTeams(parts, wake);
  const performDeps = {
    ...shared,
    tools: {
      ...parts.tools,
      assignments,
      agentLinks: links,
      handoffs,
      sendToSession: createSendToSession(wake),
      teams: createTeamDesk({ pool, board: teams.board, wake }),
    },
  };
  const fastPath = ownQueue
    ? createFastPath({
        ...shared,
        ownQueue,
        isRateLimited: shared.rateLimit.perHour > 0,
        perform: performDeps,
      })
    : createPlainPath(shared.ledger);
  const steps = { fastPath, isInline: fastPath.isInline };
  const callModel = createCallModel({
    ...shared,
    models,
    guide: links.guide,
    awaitsAnswer: (tenant, { key, number, fence }) => awaitsAnswer(pool, [tenant, key, number], fence),
    ...steps,
  });
  const runDeps = { ...performDeps, ...steps };
  const endTurn = createEndTurn({
    ...shared,
    endCommands,
    assignments,
    hasPending: (tenant, session) => hasPendingResults(pool, tenant, session),
    endBegun: fastPath.endBegun,
    releaseTasks: teams.board.releaseTasks,
    releaseAnswer: createReleaseAnswer(pool),
  });
  const activities: Record<string, (input: never) => Promise<unknown>> = {
    ...given.activities,
    ...teams.activities,
    ...createSweepActivities({ pool, lost, boxes: parts.boxes }),
    call_model: callModel,
    end_turn: endTurn,
    end_lost_turns: createEndLostTurns(pool, endTurn),
    stop_session: createStopSession({ endCommands, assignments }),
    settle_approval: createSettleApproval({
      ...shared,
      approvals,
      tokenSecrets: tokenSecrets(config.approvals.decisionToken.secret, parts.masterKeys),
    }),
    note_approval: createNoteApproval(approvals),
  };
  for (const tool of catalog.list()) activities[tool.name] = createRunTool(runDeps, tool);
  // Temporal's name for the one that takes every other activity type: a custom tool's own name.
  const toolOfCall = createToolOfCall({ pool, sealer: parts.sealer, resolve: vault.resolve });
  activities['default'] = createRunCustomTool(runDeps, toolOfCall);
  return activities;
}

/** What model calls and tools share. */
function sharedBy(parts: WorkerParts) {
  const { config, catalog, pool, notifier, vault } = parts;
  const rules = createCallRules({
    catalog,
    tools: config.tools,
    exec: config.exec,
    resolveProgram: createHostPrograms(childEnvironment({}), config.workspaceRoot),
  });
  const ledger = createTurnLedger(pool, notifier.poke);
  const placeOf = (own: AgentConfig['sandbox'] | null): ReturnType<Shell['placeOf']> =>
    parts.tools.shell.placeOf(sandboxOf(config.sandbox, own ?? undefined));
  const needsToken = createNeedsToken({
    required: config.approvals.decisionToken.required,
    sandbox: config.sandbox,
    placeOf,
    sandboxesOf: (tenant) => agentSandboxes(pool, tenant),
  });
  const workspaceOf = (tenant: string, workspace: string): string =>
    workspaceFolder(config.workspaceRoot, tenant, workspace);
  return {
    catalog,
    catalogs: parts.catalogs,
    rules,
    scrubberOf: vault.scrubberOf,
    sealer: parts.sealer,
    ledger,
    whySecured: (tenant: string, agent: string, command: string) =>
      whySecured(vault.clisNow(tenant), agent, command),
    sandbox: config.sandbox,
    wall: parts.wall,
    placeOf,
    needsToken,
    transcripts: createTranscriptCache(TRANSCRIPTS),
    approvalSeconds: config.approvals.expirySeconds,
    defaultAgent: 'main',
    rateLimit: rateLimitOf(config),
    boundFiles: createBoundFiles({ files: parts.tools.files, sandbox: config.sandbox, workspaceOf }),
    workspaceOf,
    budgets: createBudgetDesk({
      ledger: createBudgetLedger(pool, notifier.poke),
      settings: config.budgets,
      approvalSeconds: config.approvals.expirySeconds,
      needsToken,
    }),
  };
}
