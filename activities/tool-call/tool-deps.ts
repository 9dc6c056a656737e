/** What the tools need of the world. Each tool states its part by `Pick<ToolDeps, …>`; workers/ builds the whole. */
import type { SessionQueries } from '#domain/session-queries.ts';
import type { Receipt } from '#domain/turn.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { AgentLinks } from '../assignments/agent-links.ts';
import type { Assignments } from '../assignments/assignments.ts';
import type { Handoffs } from '../assignments/handoffs.ts';
import type { Processes } from '../process/background.ts';
import type { Shell } from '../process/shell.ts';
import type { SecureClis } from '../secure-cli/secure-clis.ts';
import type { TeamDesk } from '../teams/team-desk.ts';
import type { Files } from '../workspace/files.ts';

export interface ToolDeps {
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
  /** Work that the caller gives to agents: its own subagents, other agents, rounds of making and judging. */
  readonly assignments: Assignments;
  /** The agents that it may give work to. */
  readonly agentLinks: AgentLinks;
  /** The boards and mail of the teams that the caller is in. */
  readonly teams: TeamDesk;
  /** Conversations that go on with another agent. */
  readonly handoffs: Handoffs;
  /** Says something in another session, once a call. */
  readonly sendToSession: (
    call: Pick<RunningCall, 'tenant' | 'user' | 'sessionKey' | 'turnId' | 'callId' | 'toolsGiven'>,
    session: string,
    text: string,
  ) => Promise<Receipt>;
}

/** Those that reach other workflows are made by the worker itself. */
export type WorldDeps = Omit<ToolDeps, 'assignments' | 'agentLinks' | 'teams' | 'handoffs' | 'sendToSession'>;
