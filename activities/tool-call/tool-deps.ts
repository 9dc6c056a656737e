/**
 * The dependencies of tools, each provided by a group of activities. Each tool selects its own by `Pick<ToolDeps, …>`;
 * workers/ creates all of them.
 */
import type { Attachment, FileBytes } from '#domain/files/attachment.ts';
import type { Gateway } from '#domain/gateway.ts';
import type { RunningBefore, SessionQueries } from '#domain/turn/session-queries.ts';
import type { Egress } from '../egress/create-egress.ts';
import type { AssignmentTools } from '../assignments/assignment-activities.ts';
import type { Processes } from '../process/session-processes.ts';
import type { Shell } from '@tempoclaw/sandbox';
import type { TeamTools } from '../teams/team-activities.ts';
import type { SendToSession } from '../turn/send-to-session.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Files } from '../workspace/contract.ts';

/** Dependencies from this machine and the database. */
export interface WorldDeps {
  readonly sessions: SessionQueries;
  readonly runningBefore: RunningBefore;
  /** Milliseconds since 1970; a dependency, so that tests can set it. */
  readonly now: () => number;
  /** The only way to make HTTP requests. */
  readonly egress: Egress;
  /** Files in the caller's workspace. */
  readonly files: Files;
  /** Commands that end with the call. */
  readonly shell: Shell;
  /** Commands that outlive it; each belongs to its session. */
  readonly processes: Processes;
}

/** All dependencies, including those that reach other workflows. */
export interface ToolDeps extends WorldDeps, AssignmentTools, TeamTools {
  readonly sendToSession: SendToSession;
  /**
   * Keeps what a file has before a call replaces it; `after` is its new content, or undefined when the call will be
   * refused. Absent without the feature for it. A repeat of the call changes nothing. @throws FileProblem
   */
  readonly keepBefore?: (
    call: RunningCall,
    path: string,
    after: (old: Buffer | null) => Buffer | undefined,
  ) => Promise<void>;
  /**
   * Keeps a file for the caller's user, so that an answer or a message can give it to people. Absent without the feature
   * for it. Safe to repeat. @throws FileProblem, such as for a file with a secret
   */
  readonly keepFile?: (
    call: Pick<RunningCall, 'tenant' | 'user' | 'hasSecret'>,
    file: FileBytes,
  ) => Promise<Attachment>;
  /** The deployment, for its operators. */
  readonly gateway: Gateway;
}
