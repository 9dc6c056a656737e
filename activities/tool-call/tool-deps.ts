/**
 * What the tools need of the world, each room giving its part. Each tool states its own by `Pick<ToolDeps, …>`; workers/ puts the whole
 * together.
 */
import type { Gateway } from '#domain/gateway.ts';
import type { RunningBefore, SessionQueries } from '#domain/session-queries.ts';
import type { Egress } from '../egress/create-egress.ts';
import type { AssignmentTools } from '../assignments/assignment-activities.ts';
import type { OpenAiServers } from '../model/openai-servers.ts';
import type { Processes } from '../process/session-processes.ts';
import type { Shell } from '@tempoclaw/sandbox';
import type { TeamTools } from '../teams/team-activities.ts';
import type { SendToSession } from '../turn/send-to-session.ts';
import type { Files } from '../workspace/files.ts';

/** Of this machine and of the rows. */
export interface WorldDeps {
  readonly sessions: SessionQueries;
  readonly runningBefore: RunningBefore;
  /** Milliseconds since 1970; a dependency so that tests can set it. */
  readonly now: () => number;
  /** The one way out over HTTP. */
  readonly egress: Egress;
  /** Files in the caller's workspace. */
  readonly files: Files;
  /** Commands that end with the call. */
  readonly shell: Shell;
  /** Commands that outlive it, each owned by its session. */
  readonly processes: Processes;
}

/** With those that reach other workflows. */
export interface ToolDeps extends WorldDeps, AssignmentTools, TeamTools {
  readonly sendToSession: SendToSession;
  /** Servers of the settings that speak OpenAI's protocol. */
  readonly openAiServers: OpenAiServers;
  /** The deployment, for its operators. */
  readonly gateway: Gateway;
}
