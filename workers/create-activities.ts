/** All activities of a worker: its rooms, each made of what it needs and giving what others need of it. */
import { join } from 'node:path';
import type { Config } from '#config';
import { createApprovalRoom } from '#activities/approvals/approval-room.ts';
import { createAssignmentRoom } from '#activities/assignments/assignment-room.ts';
import type { WorkerModule, WorkerPart } from '#domain/feature.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';
import { createFastPath } from '#activities/fast-path/create-fast-path.ts';
import { createPlainPath } from '#activities/fast-path/fast-path.ts';
import type { OwnQueue } from '#activities/fast-path/take-over.ts';
import { createGateActivities } from '#activities/gates/gate-run.ts';
import { createHooks } from '#features/hooks/activities.ts';
import { createEmbed } from '#activities/model/embed.ts';
import { createOpenAiServers } from '#activities/model/openai-servers.ts';
import { createEndCommands } from '#activities/process/end-commands.ts';
import { createForgettingRoom } from '#activities/forgetting/forgetting-room.ts';
import { createSkills } from '#features/skills/activities/skills.ts';
import { createSweepActivities } from '#activities/sweep/sweep-activities.ts';
import { createTeamRoom } from '#activities/teams/team-room.ts';
import { createToolCallRoom } from '#activities/tool-call/tool-call-room.ts';
import { createSendToSession } from '#activities/turn/send-to-session.ts';
import { createTurnRoom } from '#activities/turn/turn-room.ts';
import { createWakeSession } from '#activities/turn/wake-session.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { sessionsBelow } from '#store/assignment-store.ts';
import { createBudgetLedger } from '#store/budget-ledger.ts';
import { createEmbeddingStore } from '#store/embedding-store.ts';
import type { Pool } from '#store/pool.ts';
import { createFileLock } from '#store/file-lock.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import { type ActivityParts, createWorkerBase } from './worker-core.ts';

/** `ownQueue`: of the fast path; without one the turn goes the plain way. */
export function createActivities(
  parts: ActivityParts,
  modules: readonly WorkerModule[],
  ownQueue: OwnQueue | undefined,
): Readonly<Record<string, (input: never) => Promise<unknown>>> {
  const { config, pool, models, machine, temporal } = parts;
  const base = createWorkerBase(parts);
  const wake = createWakeSession({ ...base, submit: temporal.submit });
  const lost = createLostWork(base);
  const endCommands = createEndCommands(base.processes, base.browsers, (tenant, session) =>
    sessionsBelow(pool, tenant, session),
  );
  const hooks = createHooks({ ...base, models, settings: config.hooks, resolve: parts.vault.resolve });
  const approvals = createApprovalRoom({
    ...base,
    hooks,
    decisionToken: config.approvals.decisionToken,
    masterKeys: parts.masterKeys,
  });
  const budgetLedger = createBudgetLedger(pool, base.onWrite);
  const budgets = createBudgetGuard({
    ...base,
    ledger: budgetLedger,
    settings: config.budgets,
    needsToken: approvals.needsToken,
  });
  const embed = createEmbed({ store: createEmbeddingStore(pool), models, budgets });
  const { notifier, masterKeys } = parts;
  const core = { ...base, models, temporal, notifier, masterKeys, wake, budgets, budgetLedger, embed };
  const added = joined(modules.map((module) => module.createWorkerPart(core)));
  const hostFiles = createHostFiles(config, pool);
  const skills = createSkills({ ...base, embed, hostFiles, folders: config.skills.folders });
  const teams = createTeamRoom({ ...base, wake });
  const assignments = createAssignmentRoom({
    ...base,
    wake,
    embed,
    lost,
    endCommands,
    models,
    subagents: subagentLimits(config),
  });
  const calls = {
    ...base,
    budgets,
    models,
    needsToken: approvals.needsToken,
    tools: {
      ...added.tools,
      ...machine.world,
      ...assignments.tools,
      ...teams.tools,
      gateway: parts.gateway,
      openAiServers: createOpenAiServers({ ...core, providers: config.models.providers }),
      sendToSession: createSendToSession(wake),
      skills,
    },
  };
  const fastPath = ownQueue
    ? createFastPath({ ...calls, ownQueue, isRateLimited: base.rateLimit.perHour > 0, perform: calls })
    : createPlainPath(base.ledger);
  return {
    ...approvals.activities,
    ...createGateActivities({ ...base, budgets }),
    ...teams.activities,
    ...assignments.activities,
    ...added.activities,
    ...createForgettingRoom({
      ...base,
      parts: added.forget,
      workspaces: machine.workspaces,
      temporal,
    }),
    ...createSweepActivities({
      ...base,
      reach: temporal,
      lost,
      ...added,
      boxes: machine.boxes,
      retention: config.retention,
      workspaces: machine.workspaces,
    }),
    ...createTurnRoom({
      ...calls,
      fastPath,
      hooks,
      skills,
      endCommands,
      guide: assignments.tools.agentLinks.guide,
      summarized: added.summarized,
      assignments: assignments.tools.assignments,
      releaseTasks: teams.releaseTasks,
    }),
    ...createToolCallRoom({
      ...calls,
      fastPath,
      added: added.addedTools,
    }),
  };
}

/** Of skills' folders on this machine. */
function createHostFiles({ stateDir }: Config, pool: Pool) {
  return createFiles({ journalDir: join(stateDir, 'changes'), now: Date.now, lock: createFileLock(pool) });
}

/** What features bring, each kind together. */
function joined(parts: readonly WorkerPart[]) {
  return {
    tools: merged(parts.map(({ tools }) => tools)),
    activities: merged(parts.map(({ activities }) => activities)),
    addedTools: parts.flatMap(({ addedTools }) => addedTools ?? []),
    oldRows: parts.flatMap(({ oldRows }) => oldRows ?? []),
    recover: parts.flatMap(({ recover }) => recover ?? []),
    forget: parts.flatMap(({ forget }) => forget ?? []),
    summarized: parts.flatMap(({ summarized }) => summarized ?? []),
  };
}

function merged<Value>(
  all: readonly (Readonly<Record<string, Value>> | undefined)[],
): Readonly<Record<string, Value>> {
  return Object.assign({}, ...all) as Record<string, Value>;
}

function subagentLimits({ subagents }: Config) {
  return {
    ...subagents,
    concurrent: subagents.maxConcurrent,
    depth: subagents.maxDepth,
    children: subagents.maxChildren,
    iterations: subagents.maxIterations,
    archiveMinutes: subagents.archiveAfterMinutes,
  };
}
