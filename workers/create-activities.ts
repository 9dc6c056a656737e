/** All activities of a worker: its rooms, each made of what it needs and giving what others need of it. */
import { join } from 'node:path';
import { commandFolders, type Config } from '#config';
import { createApprovalRoom } from '#activities/approvals/approval-room.ts';
import { createAssignmentRoom } from '#activities/assignments/assignment-room.ts';
import type { WorkerModule } from '#domain/feature.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';
import { createFastPath } from '#activities/fast-path/create-fast-path.ts';
import { createPlainPath } from '#activities/fast-path/fast-path.ts';
import type { OwnQueue } from '#activities/fast-path/take-over.ts';
import { createGateActivities } from '#activities/gates/gate-run.ts';
import { createHooks } from '#features/hooks/activities.ts';
import { MEDIA_FOLDER } from '#features/media/reading/film-parts.ts';
import { createMailDelivery } from '#features/mail/activities/approval-mails.ts';
import { createSendMail } from '#features/mail/activities/send-mail.ts';
import { createMediaMakingRoom } from '#features/media/making/media-making-room.ts';
import { createMediaReadingRoom } from '#features/media/reading/media-reading-room.ts';
import { createMemoryRoom } from '#features/memory/activities/memory-room.ts';
import { createEmbed } from '#activities/model/embed.ts';
import { createOpenAiServers } from '#activities/model/openai-servers.ts';
import { createEndCommands } from '#activities/process/end-commands.ts';
import { createForgettingRoom } from '#activities/forgetting/forgetting-room.ts';
import { createScheduleRoom } from '#features/schedules/activities/schedule-room.ts';
import { createSkills } from '#features/skills/activities/skills.ts';
import { createSweepActivities } from '#activities/sweep/sweep-activities.ts';
import { createTeamRoom } from '#activities/teams/team-room.ts';
import { createWebhookRoom } from '#features/webhooks-out/activities.ts';
import { createToolCallRoom } from '#activities/tool-call/tool-call-room.ts';
import { createSendToSession } from '#activities/turn/send-to-session.ts';
import { createTurnRoom } from '#activities/turn/turn-room.ts';
import { createWakeSession, type WakeSession } from '#activities/turn/wake-session.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { sessionsBelow } from '#store/assignment-store.ts';
import { createBudgetLedger } from '#store/budget-ledger.ts';
import { createEmbeddingStore } from '#store/embedding-store.ts';
import { createFileLock } from '#store/file-lock.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import { type ActivityParts, createWorkerCore, type WorkerCore } from './worker-core.ts';

/** `ownQueue`: of the fast path; without one the turn goes the plain way. */
export function createActivities(
  parts: ActivityParts,
  modules: readonly WorkerModule[],
  ownQueue: OwnQueue | undefined,
): Readonly<Record<string, (input: never) => Promise<unknown>>> {
  const { config, pool, models, machine, temporal } = parts;
  const base = createWorkerCore(parts);
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
  const media = createMedia(parts, { ...base, budgetLedger, budgets });
  const embed = createEmbed({ store: createEmbeddingStore(pool), models, budgets });
  const hostFiles = createFiles({
    journalDir: join(config.stateDir, 'changes'),
    now: Date.now,
    lock: createFileLock(pool),
  });
  const skills = createSkills({ ...base, embed, hostFiles, folders: config.skills.folders });
  const memory = createMemoryRoom({ ...base, embed, models, budgets, outsideOf: base.rules.outside });
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
  const scheduling = createScheduleRoom({ ...base, wake, temporal });
  const calls = {
    ...base,
    budgets,
    models,
    needsToken: approvals.needsToken,
    tools: {
      ...toolsOf(modules, base),
      ...machine.world,
      ...assignments.tools,
      ...teams.tools,
      ...memory.tools,
      ...scheduling.tools,
      gateway: parts.gateway,
      ...media,
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
    ...memory.activities,
    ...createDeliveries(parts, { ...base, wake }),
    ...scheduling.activities,
    ...createForgettingRoom({ ...base, ...scheduling, workspaces: machine.workspaces, temporal }),
    ...createSweepActivities({
      ...base,
      reach: temporal,
      lost,
      schedules: scheduling.schedules,
      boxes: machine.boxes,
      indexPending: memory.indexPending,
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
      remember: memory.tools.memory.remember,
      assignments: assignments.tools.assignments,
      releaseTasks: teams.releaseTasks,
    }),
    ...createToolCallRoom({ ...calls, fastPath, resolve: parts.vault.resolve }),
  };
}

/** What the tools of features need. */
function toolsOf(modules: readonly WorkerModule[], core: WorkerCore): Readonly<Record<string, unknown>> {
  return Object.assign({}, ...modules.map((module) => module.createWorkerPart(core).tools)) as Record<
    string,
    unknown
  >;
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

function createDeliveries(
  { config: { mail, api, approvals, webhooks }, masterKeys, notifier }: ActivityParts,
  base: WorkerCore & { readonly wake: WakeSession },
) {
  const [tokenSecret = ''] = tokenSecrets(approvals.decisionToken.secret, masterKeys);
  const send = createSendMail({ ...base, mail });
  const deliverMail = createMailDelivery({ ...base, send, publicUrl: api.publicUrl, tokenSecret });
  return createWebhookRoom({
    ...base,
    notifier,
    settings: webhooks,
    deliverMail,
    publicUrl: api.publicUrl,
    tokenSecret,
  });
}

type MediaParts = Parameters<typeof createMediaReadingRoom>[0] & Parameters<typeof createMediaMakingRoom>[0];

function createMedia(
  { config, models }: ActivityParts,
  given: Omit<MediaParts, 'models' | 'folders' | 'dir' | 'mediaPlaces' | 'open'>,
) {
  const {
    media: settings,
    models: { providers },
    stateDir,
  } = config;
  const parts = { ...given, models, folders: commandFolders(), dir: join(stateDir, MEDIA_FOLDER) };
  const reading = createMediaReadingRoom(parts);
  return {
    ...reading,
    ...createMediaMakingRoom({ ...parts, open: reading.media.open, mediaPlaces: { settings, providers } }),
    openAiServers: createOpenAiServers({ ...parts, providers }),
  };
}
