/**
 * Creates all activities of a worker in groups; each group receives what it needs and returns what others need of it.
 */
import type { ServiceHandler } from 'nexus-rpc';
import type { Config } from '#config';
import { createApprovalActivities } from '#activities/approvals/approval-activities.ts';
import { createNeedsToken } from '#activities/approvals/needs-token.ts';
import { createAssignmentParts } from '#activities/assignments/assignment-activities.ts';
import type { FeaturePoints, WorkerModule, WorkerPart } from '#domain/feature.ts';
import { NO_STAND_INS } from '#activities/stand-ins.ts';
import { joinGuards } from '#activities/guards.ts';
import { createStartGate } from '#activities/start-gate.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';
import { createPlainEngine } from '#activities/turn/step-engine.ts';
import { createGateActivities } from '#activities/gates/gate-run.ts';
import { createEmbed } from '#activities/model/embed.ts';
import { createEndCommands } from '#activities/process/end-commands.ts';
import { createForgettingActivities } from '#activities/forgetting/forgetting-activities.ts';
import { createSweepActivities } from '#activities/sweep/sweep-activities.ts';
import { createTeamActivities } from '#activities/teams/team-activities.ts';
import { createToolCallActivities } from '#activities/tool-call/tool-call-activities.ts';
import { createSendToSession } from '#activities/turn/send-to-session.ts';
import { createTurnActivities } from '#activities/turn/turn-activities.ts';
import { createSendSystemMessage } from '#activities/turn/send-system-message.ts';
import { agentSandboxes } from '#store/agent-store.ts';
import { sessionsBelow } from '#store/assignments/assignment-store.ts';
import { createBudgetLedger } from '#store/budgets/budget-ledger.ts';
import { createEmbeddingStore } from '#store/embedding-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import { type ActivityParts, createWorkerBase, type WorkerCore } from './worker-core.ts';

export interface WorkerActivities {
  readonly activities: Readonly<Record<string, (input: never) => Promise<unknown>>>;
  readonly nexusServices: ServiceHandler[];
  /** See StepEngine. */
  readonly untilFollowed: () => Promise<void>;
  /** Called when the worker has drained. */
  close(): Promise<void>;
}

export async function createActivities(
  parts: ActivityParts,
  modules: readonly WorkerModule[],
): Promise<WorkerActivities> {
  const { config, pool, models, temporal, notifier, masterKeys } = parts;
  const base = createWorkerBase(parts);
  const { machine } = base;
  const wake = createSendSystemMessage({ ...base, submit: temporal.submit });
  const lost = createLostWork(base);
  const { decisionToken } = config.approvals;
  const needsToken = createNeedsToken({
    ...base,
    required: decisionToken.required,
    hasTemporalClients: () => features.hasTemporalClients(),
    sandboxesOf: (tenant) => agentSandboxes(forTenant(pool, tenant)),
  });
  const budgetLedger = createBudgetLedger(pool, base.onWrite);
  const budgets = createBudgetGuard({ ...base, ledger: budgetLedger, settings: config.budgets, needsToken });
  const embed = createEmbed({ store: createEmbeddingStore(pool), models, budgets });
  const core: WorkerCore = {
    ...base,
    models,
    temporal,
    notifier,
    masterKeys,
    wake,
    budgets,
    budgetLedger,
    embed,
    log: parts.log,
    extensions: (name) => features.extensions(name),
  };
  const features = joined(await Promise.all(modules.map(async (module) => module.createWorkerPart(core))));
  const { guards } = features;
  const endCommands = createEndCommands(base.processes, features.endSession, (tenant, session) =>
    sessionsBelow(forTenant(pool, tenant), session),
  );
  const teams = createTeamActivities({ ...base, wake });
  const assignments = createAssignmentParts({
    ...base,
    wake,
    embed,
    lost,
    endCommands,
    assignmentEnds: features.assignmentEnds,
    models,
    subagents: subagentLimits(config),
  });
  const calls = {
    ...base,
    budgets,
    models,
    needsToken,
    guards,
    mayReverse: features.mayReverse,
    startGate: createStartGate(guards),
    documentWritten: features.documentWritten,
    tools: {
      ...features.tools,
      ...machine.world,
      ...assignments.tools,
      ...teams.tools,
      gateway: parts.gateway,
      sendToSession: createSendToSession(wake),
    },
  };
  const engine = features.createStepEngine?.(calls, calls.startGate) ?? createPlainEngine(base.ledger);
  const { workspaces, boxes } = machine;
  const activities = {
    ...createApprovalActivities({ ...base, guards, tokenSecret: decisionToken.secret, masterKeys }),
    ...createGateActivities({ ...base, budgets }),
    ...teams.activities,
    ...assignments.activities,
    ...features.activities,
    ...createForgettingActivities({ ...base, parts: features.forget, workspaces, temporal }),
    ...createSweepActivities({
      ...base,
      ...features,
      reach: temporal,
      lost,
      boxes,
      retention: config.retention,
      workspaces,
    }),
    ...createTurnActivities({
      ...calls,
      ...features,
      engine,
      endCommands,
      guide: assignments.tools.agentLinks.guide,
      assignments: assignments.tools.assignments,
      releaseTasks: teams.releaseTasks,
    }),
    ...createToolCallActivities({ ...calls, engine, added: features.addedTools }),
  };
  const { nexusServices, close } = features;
  return { activities, nexusServices, untilFollowed: engine.untilFollowed, close };
}

/** The parts of all features, merged by kind. */
function joined(parts: readonly WorkerPart[]) {
  return {
    tools: merged(parts.map(({ tools }) => tools)),
    activities: merged(parts.map(({ activities }) => activities)),
    assignmentEnds: merged(parts.map(({ assignmentEnds }) => assignmentEnds)),
    addedTools: parts.flatMap(({ addedTools }) => addedTools ?? []),
    recover: parts.flatMap(({ recover }) => recover ?? []),
    prune: parts.flatMap(({ prune }) => prune ?? []),
    forget: parts.flatMap(({ forget }) => forget ?? []),
    summarized: parts.flatMap(({ summarized }) => summarized ?? []),
    documentWritten: parts.flatMap(({ documentWritten }) => documentWritten ?? []),
    promptPieces: parts.flatMap(({ promptPiece }) => promptPiece ?? []),
    nexusServices: parts.flatMap(({ nexusServices }) => nexusServices ?? []),
    endSession: parts.flatMap(({ endSession }) => endSession ?? []),
    createStepEngine: parts.find((part) => part.createStepEngine)?.createStepEngine,
    standIns: parts.find((part) => part.standIns)?.standIns ?? NO_STAND_INS,
    mayReverse: parts.find((part) => part.mayReverse)?.mayReverse ?? (() => Promise.resolve(false)),
    forkAnswer: parts.find((part) => part.forkAnswer)?.forkAnswer ?? (() => Promise.resolve(undefined)),
    guards: joinGuards(parts.flatMap(({ guard }) => guard ?? [])),
    extensions: <Name extends keyof FeaturePoints>(name: Name): readonly FeaturePoints[Name][] =>
      parts.flatMap((part) => {
        const added = part.extends?.[name];
        return added === undefined ? [] : [added];
      }),
    async hasTemporalClients() {
      for (const part of parts) if (await part.hasTemporalClients?.()) return true;
      return false;
    },
    async close() {
      for (const part of parts) await part.close?.();
    },
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
