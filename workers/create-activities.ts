/** All activities of a worker: its rooms, each made of what it needs and giving what others need of it. */
import { childEnvironment, type Config } from '#config';
import { createApprovalRoom } from '#activities/approvals/approval-room.ts';
import { createAssignmentRoom } from '#activities/assignments/assignment-room.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';
import { createFastPath } from '#activities/fast-path/create-fast-path.ts';
import { createPlainPath } from '#activities/fast-path/fast-path.ts';
import type { OwnQueue } from '#activities/fast-path/take-over.ts';
import { createGateActivities } from '#activities/gates/gate-run.ts';
import type { Models } from '#activities/model/model-catalog.ts';
import { createEndCommands } from '#activities/process/end-commands.ts';
import { createTranscriptCache } from '#activities/prompt/transcript-cache.ts';
import { whySecured } from '#activities/secure-cli/refuse-secured.ts';
import { createSweepActivities } from '#activities/sweep/sweep-activities.ts';
import { createTeamRoom } from '#activities/teams/team-room.ts';
import type { PlaceOf } from '#activities/tool-call/call-deps.ts';
import { createBoundFiles } from '#activities/tool-call/bound-files.ts';
import { createToolCallRoom } from '#activities/tool-call/tool-call-room.ts';
import { createSendToSession } from '#activities/turn/send-to-session.ts';
import { createTurnRoom } from '#activities/turn/turn-room.ts';
import { createWakeSession } from '#activities/turn/wake-session.ts';
import { workspaceFolder } from '#activities/workspace/workspace-folder.ts';
import { sandboxOf, type Wall } from '#domain/sandbox.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { createCallRules } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { AgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import { createHostPrograms } from '#policy/host-programs.ts';
import { sessionsBelow } from '#store/assignment-store.ts';
import { createBudgetLedger } from '#store/budget-ledger.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import type { Vault } from '#store/secrets/vault.ts';
import { createTurnLedger } from '#store/turn-ledger.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import type { Machine } from './create-machine.ts';

/** Characters of transcripts kept in memory over all sessions. */
const TRANSCRIPTS = 64 * 1024 * 1024;

export interface ActivityParts {
  readonly config: Config;
  readonly pool: Pool;
  readonly notifier: EventNotifier;
  /** The native tools; `catalogs` has them and those that tenants have made. */
  readonly catalog: Catalog;
  readonly catalogs: AgentCatalogs;
  readonly models: Models;
  readonly machine: Machine;
  /** Around commands on this machine. */
  readonly wall: Wall;
  /** To reach other workflows: messages to sessions, signals and updates. */
  readonly temporal: WorkflowReach & Pick<TemporalAccess, 'submit'>;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly masterKeys: readonly Buffer[];
}

/** `ownQueue`: of the fast path; without one the turn goes the plain way. */
export function createActivities(
  parts: ActivityParts,
  ownQueue: OwnQueue | undefined,
): Readonly<Record<string, (input: never) => Promise<unknown>>> {
  const { config, pool, models, machine } = parts;
  const { approvals: asking, subagents } = config;
  const base = sharedBy(parts);
  const wake = createWakeSession({ ...base, submit: parts.temporal.submit });
  const lost = createLostWork(base);
  const endCommands = createEndCommands(base.processes, (tenant, session) =>
    sessionsBelow(pool, tenant, session),
  );
  const approvals = createApprovalRoom({
    ...base,
    decisionToken: asking.decisionToken,
    masterKeys: parts.masterKeys,
  });
  const budgets = createBudgetGuard({
    ...base,
    ledger: createBudgetLedger(pool, base.onWrite),
    settings: config.budgets,
    needsToken: approvals.needsToken,
  });
  const gates = createGateActivities({ ...base, budgets });
  const teams = createTeamRoom({ ...base, wake });
  const assignments = createAssignmentRoom({
    ...base,
    wake,
    budgets,
    lost,
    endCommands,
    models,
    embeddingModel: config.embeddings.model,
    subagents: {
      ...subagents,
      concurrent: subagents.maxConcurrent,
      depth: subagents.maxDepth,
      children: subagents.maxChildren,
      iterations: subagents.maxIterations,
      archiveMinutes: subagents.archiveAfterMinutes,
    },
  });
  const calls = {
    ...base,
    budgets,
    needsToken: approvals.needsToken,
    tools: {
      ...machine.world,
      ...assignments.tools,
      ...teams.tools,
      sendToSession: createSendToSession(wake),
    },
  };
  const fastPath = ownQueue
    ? createFastPath({ ...calls, ownQueue, isRateLimited: base.rateLimit.perHour > 0, perform: calls })
    : createPlainPath(base.ledger);
  return {
    ...approvals.activities,
    ...gates,
    ...teams.activities,
    ...assignments.activities,
    ...createSweepActivities({ pool, lost, boxes: machine.boxes }),
    ...createTurnRoom({
      ...calls,
      fastPath,
      models,
      endCommands,
      guide: assignments.tools.agentLinks.guide,
      assignments: assignments.tools.assignments,
      releaseTasks: teams.releaseTasks,
    }),
    ...createToolCallRoom({ ...calls, fastPath, resolve: parts.vault.resolve }),
  };
}

/** What most rooms are made of. */
function sharedBy({
  config,
  catalog,
  catalogs,
  pool,
  notifier,
  vault,
  sealer,
  temporal,
  machine,
  wall,
}: ActivityParts) {
  const { sandbox, workspaceRoot, tools } = config;
  const { world } = machine;
  const placeOf: PlaceOf = (own) => world.shell.placeOf(sandboxOf(sandbox, own ?? undefined));
  const perHour = tools.rate_limit_per_hour ?? 0;
  const workspaceOf = (tenant: string, workspace: string): string =>
    workspaceFolder(workspaceRoot, tenant, workspace);
  return {
    ...world,
    pool,
    onWrite: notifier.notify,
    scrubberOf: vault.scrubberOf,
    reach: temporal,
    sealer,
    catalog,
    catalogs,
    sandbox,
    wall,
    workspaceOf,
    ledger: createTurnLedger(pool, notifier.notify),
    transcripts: createTranscriptCache(TRANSCRIPTS),
    rules: createCallRules({
      catalog,
      tools,
      exec: config.exec,
      resolveProgram: createHostPrograms(childEnvironment({}), workspaceRoot),
    }),
    placeOf,
    whySecured: (tenant: string, agent: string, command: string) =>
      whySecured(vault.clisNow(tenant), agent, command),
    boundFiles: createBoundFiles({ files: world.files, sandbox, workspaceOf }),
    approvalSeconds: config.approvals.expirySeconds,
    defaultAgent: 'main',
    // EX-6; 0 an hour: no limit.
    rateLimit: { perHour, burst: tools.rate_limit_burst ?? Math.max(1, Math.ceil(perHour / 10)) },
  };
}
