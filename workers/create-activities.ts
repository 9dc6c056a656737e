/** All activities of a worker: its rooms, each made of what it needs and giving what others need of it. */
import { deniedPrefixes } from '#domain/path-rules.ts';
import { createCallReads } from '#activities/tool-call/call-reads.ts';
import { createKnownAddresses } from '#activities/tool-call/known-addresses.ts';
import { join } from 'node:path';
import { childEnvironment, commandFolders, type Config } from '#config';
import { createApprovalRoom } from '#activities/approvals/approval-room.ts';
import { createAssignmentRoom } from '#activities/assignments/assignment-room.ts';
import { createCanvases } from '#features/canvas/canvases.ts';
import { createOwnChannels } from '#features/channels/activities/own-channels.ts';
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
import type { Models } from '#activities/model/model-catalog.ts';
import { createOpenAiServers } from '#activities/model/openai-servers.ts';
import { createEndCommands } from '#activities/process/end-commands.ts';
import { createContextFiles } from '#activities/prompt/context-files.ts';
import { createTranscriptCache } from '#activities/prompt/transcript-cache.ts';
import { whySecured } from '#features/secure-cli/activities/refuse-secured.ts';
import { createForgettingRoom } from '#activities/forgetting/forgetting-room.ts';
import { createScheduleRoom } from '#features/schedules/activities/schedule-room.ts';
import { openArtifactObjects } from '#features/snapshots/activities/open-object-store.ts';
import { createSkills } from '#features/skills/activities/skills.ts';
import { createSweepActivities } from '#activities/sweep/sweep-activities.ts';
import { createTeamRoom } from '#activities/teams/team-room.ts';
import { createWebhookRoom } from '#features/webhooks-out/activities.ts';
import type { PlaceOf } from '#activities/tool-call/call-deps.ts';
import { createBoundFiles } from '#activities/tool-call/bound-files.ts';
import { createToolCallRoom } from '#activities/tool-call/tool-call-room.ts';
import { createSendToSession } from '#activities/turn/send-to-session.ts';
import { createTurnRoom } from '#activities/turn/turn-room.ts';
import { createWakeSession, type WakeSession } from '#activities/turn/wake-session.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { createWorkspaceOf } from '#activities/workspace/workspace-folder.ts';
import type { Gateway } from '#domain/gateway.ts';
import { sandboxOf, type Wall } from '#domain/sandbox.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { createCallRules } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import type { AgentCatalogs } from '#features/custom-tools/policy/agent-catalogs.ts';
import { createHostPrograms } from '#policy/host-programs.ts';
import { sessionsBelow } from '#store/assignment-store.ts';
import { createBudgetLedger } from '#store/budget-ledger.ts';
import { createEmbeddingStore } from '#store/embedding-store.ts';
import type { EventNotifier } from '#store/event-notifier.ts';
import { createFileLock } from '#store/file-lock.ts';
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
  readonly temporal: WorkflowReach &
    Pick<TemporalAccess, 'submit' | 'stop' | 'stopIdle' | 'removeRuns' | 'schedules'>;
  readonly sealer: Sealer;
  readonly vault: Vault;
  readonly masterKeys: readonly Buffer[];
  readonly gateway: Gateway;
}

/** `ownQueue`: of the fast path; without one the turn goes the plain way. */
export function createActivities(
  parts: ActivityParts,
  ownQueue: OwnQueue | undefined,
): Readonly<Record<string, (input: never) => Promise<unknown>>> {
  const { config, pool, models, machine, temporal } = parts;
  const base = sharedBy(parts);
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
      ...machine.world,
      ...assignments.tools,
      ...teams.tools,
      ...memory.tools,
      ...scheduling.tools,
      gateway: parts.gateway,
      ...media,
      sendToSession: createSendToSession(wake),
      canvases: createCanvases(base),
      channels: createOwnChannels(base),
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
  base: ReturnType<typeof sharedBy> & { readonly wake: WakeSession },
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
  const { sandbox, workspaceRoot, tools, artifacts } = config;
  const { world } = machine;
  const placeOf: PlaceOf = (own) => world.shell.placeOf(sandboxOf(sandbox, own ?? undefined));
  const perHour = tools.rate_limit_per_hour ?? 0;
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
    pool,
    onWrite: notifier.notify,
    scrubberOf: vault.scrubberOf,
    reach: temporal,
    sealer,
    catalog,
    catalogs,
    sandbox,
    wall,
    egressSettings: config.egress,
    resolveSecret: vault.resolveSetting,
    resolveOf: vault.resolve,
    services: config.channels,
    objects: openArtifactObjects(artifacts, vault.resolveSetting),
    workspaceOf,
    callReads: createCallReads(pool, world.processes, deniedPrefixes(tools.denied_paths)),
    ledger: createTurnLedger(pool, notifier.notify),
    transcripts: createTranscriptCache(TRANSCRIPTS),
    contextFiles: createContextFiles(pool),
    rules,
    knownAddresses: createKnownAddresses(pool, rules),
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
