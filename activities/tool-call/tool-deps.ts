/**
 * What the tools need of the world, each room giving its part. Each tool states its own by `Pick<ToolDeps, …>`; workers/ puts the whole
 * together.
 */
import type { SessionQueries } from '#domain/session-queries.ts';
import type { AssignmentTools } from '../assignments/assignment-room.ts';
import type { Processes } from '../process/background.ts';
import type { Shell } from '../process/shell.ts';
import type { SecureClis } from '../secure-cli/secure-clis.ts';
import type { TeamTools } from '../teams/team-room.ts';
import type { SendToSession } from '../turn/send-to-session.ts';
import type { Files } from '../workspace/files.ts';

/** Of this machine and of the rows. */
export interface WorldDeps {
  readonly sessions: SessionQueries;
  /** Milliseconds since 1970; a dependency so that tests can set it. */
  readonly now: () => number;
  /** Files in the caller's workspace. */
  readonly files: Files;
  /** Commands that end with the call. */
  readonly shell: Shell;
  /** Commands that outlive it, each owned by its session. */
  readonly processes: Processes;
  /** Programs with credentials. */
  readonly secureClis: SecureClis;
}

/** With those that reach other workflows. */
export interface ToolDeps extends WorldDeps, AssignmentTools, TeamTools {
  readonly sendToSession: SendToSession;
}
