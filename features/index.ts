/**
 * The features of this build, one a line. Without its line, a feature is gone, with those that need it, and everything
 * else works. An installation may add its own, from the folder that TEMPOCLAW_FEATURES names.
 */
import { ownFeaturesFolder } from '#config/own-features-folder.ts';
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';
import { a2aClient } from './a2a-client/feature.ts';
import { a2a } from './a2a/feature.ts';
import { acp } from './acp/feature.ts';
import { agUi } from './ag-ui/feature.ts';
import { agentExport } from './agent-export/feature.ts';
import { approvalLinks } from './approval-links/feature.ts';
import { artifacts } from './artifacts/feature.ts';
import { browser } from './browser/feature.ts';
import { canvas } from './canvas/feature.ts';
import { channels } from './channels/feature.ts';
import { webConsole } from './console/feature.ts';
import { codeTools } from './code-tools/feature.ts';
import { customTools } from './custom-tools/feature.ts';
import { evaluation } from './evaluation/feature.ts';
import { demo } from './demo/feature.ts';
import { evidence } from './evidence/feature.ts';
import { explain } from './explain/feature.ts';
import { fastPath } from './fast-path/feature.ts';
import { fork } from './fork/feature.ts';
import { freeze } from './freeze/feature.ts';
import { guard } from './guard/feature.ts';
import { handoffs } from './handoffs/feature.ts';
import { hooks } from './hooks/feature.ts';
import { importOthers } from './import-others/feature.ts';
import { knowledge } from './knowledge/feature.ts';
import { langgraph } from './langgraph/feature.ts';
import { local } from './local/feature.ts';
import { mail } from './mail/feature.ts';
import { mcpServer } from './mcp-server/feature.ts';
import { mcp } from './mcp/feature.ts';
import { media } from './media/feature.ts';
import { memory } from './memory/feature.ts';
import { nexus } from './nexus/feature.ts';
import { nodes } from './nodes/feature.ts';
import { oidc } from './oidc/feature.ts';
import { openaiApi } from './openai-api/feature.ts';
import { openaiCompatCall } from './openai-compat-call/feature.ts';
import { loadOwnFeatures } from './own-features.ts';
import { projects } from './projects/feature.ts';
import { recordings } from './recordings/feature.ts';
import { rollouts } from './rollouts/feature.ts';
import { schedules } from './schedules/feature.ts';
import { secureCli } from './secure-cli/feature.ts';
import { skills } from './skills/feature.ts';
import { snapshots } from './snapshots/feature.ts';
import { tenantMove } from './tenant-move/feature.ts';
import { telemetry } from './telemetry/feature.ts';
import { terminalChat } from './terminal-chat/feature.ts';
import { uiStream } from './ui-stream/feature.ts';
import { undo } from './undo/feature.ts';
import { web } from './web/feature.ts';
import { webhooksIn } from './webhooks-in/feature.ts';
import { webhooksOut } from './webhooks-out/feature.ts';

const BUILT: readonly Feature[] = [
  a2a,
  a2aClient,
  acp,
  agUi,
  agentExport,
  approvalLinks,
  artifacts,
  browser,
  canvas,
  channels,
  webConsole,
  codeTools,
  customTools,
  evaluation,
  demo,
  evidence,
  explain,
  fastPath,
  fork,
  freeze,
  guard,
  handoffs,
  hooks,
  importOthers,
  knowledge,
  langgraph,
  local,
  mail,
  mcpServer,
  mcp,
  media,
  memory,
  nexus,
  nodes,
  oidc,
  openaiApi,
  openaiCompatCall,
  projects,
  recordings,
  rollouts,
  schedules,
  secureCli,
  skills,
  snapshots,
  telemetry,
  tenantMove,
  terminalChat,
  uiStream,
  undo,
  web,
  webhooksIn,
  webhooksOut,
];

const own = loadOwnFeatures(ownFeaturesFolder(), BUILT);

export const FEATURES: readonly Feature[] = inOrderOfNeed([...BUILT, ...own.features]);

/** What is wrong with the installation's own features; nothing starts while there is any. */
export const FEATURE_PROBLEMS: readonly string[] = own.problems;
