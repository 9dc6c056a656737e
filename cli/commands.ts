/** Every command in the order and the groups of the help. A module is loaded when its command is used. */
import type { Command } from 'commander';
import type { Resource } from '#domain/resource/define-resource.ts';

export interface CommandEntry {
  readonly group: string;
  readonly name: string;
  readonly summary: string;
  /** Gives the command, made with its name and summary, its options, arguments and commands below it; `whole` makes the whole tree. */
  readonly load: () => Promise<{ register(command: Command, whole: () => Promise<Command>): void }>;
}

/** A resource whose commands are all in its definition. */
function of(load: () => Promise<Resource>): CommandEntry['load'] {
  return async () => {
    const [{ addCommands }, resource] = await Promise.all([import('./resource-commands.ts'), load()]);
    return { register: (command) => addCommands(command, resource) };
  };
}

type Row = readonly [name: string, summary: string, load: CommandEntry['load']];

const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  'Start and look after:': [
    [
      'up',
      'start Postgres, Temporal, the worker and the API on this machine',
      () => import('#cli/commands/up.ts'),
    ],
    [
      'status',
      'what runs, where, since when; exit 1 when it is not ready',
      () => import('#cli/commands/status.ts'),
    ],
    [
      'open',
      "open Temporal's web UI, the API's docs or its start page",
      () => import('#cli/commands/open.ts'),
    ],
    ['logs', 'the log of a part, or of all', () => import('#cli/commands/logs.ts')],
    [
      'env',
      'addresses and key for other programs: eval "$(npx tempoclaw env)"',
      () => import('#cli/commands/env.ts'),
    ],
    [
      'temporal',
      "Temporal's own command line, at the server that runs here",
      () => import('#cli/commands/temporal.ts'),
    ],
    [
      'doctor',
      'look for what a start needs; exit 1 when something needed is missing',
      () => import('#cli/commands/doctor.ts'),
    ],
    ['sandbox', 'the box that agents’ commands run in: test', () => import('#cli/commands/sandbox.ts')],
    ['demo', 'see for yourself: crash', () => import('#cli/commands/demo.ts')],
  ],
  'Talk:': [
    [
      'chat',
      'talk to an agent: live steps, approvals in place; Ctrl-C stops the turn, twice leaves',
      () => import('#cli/commands/chat.ts'),
    ],
    [
      'run',
      'run one turn: progress on stderr, the answer on stdout; exit 1 when it failed or was stopped',
      () => import('#cli/commands/run.ts'),
    ],
    [
      'approvals',
      'calls that wait for a person: list, show, approve, reject, respond, link, watch',
      () => import('#cli/commands/approvals.ts'),
    ],
    [
      'sessions',
      'conversations: list, show, messages, events, stop',
      () => import('#cli/commands/sessions.ts'),
    ],
    [
      'turns',
      'turns of a session: list, show one with its tool calls',
      () => import('#cli/commands/turns.ts'),
    ],
  ],
  'Agents and their work:': [
    ['agents', 'agents: list, show, create, update, delete', () => import('#cli/commands/agents.ts')],
    [
      'agent-links',
      'which agent may give work to which: list, show, add, set, delete',
      of(async () => (await import('#domain/resource/agent-links.ts')).agentLinks),
    ],
    [
      'delegations',
      'work that agents give to each other: list, show, stop',
      () => import('#cli/commands/delegations.ts'),
    ],
    [
      'evaluations',
      'rounds of making and judging: list, show, stop',
      () => import('#cli/commands/evaluations.ts'),
    ],
    [
      'handoffs',
      'chats that were handed to another agent: list, clear',
      () => import('#cli/commands/handoffs.ts'),
    ],
    [
      'subagents',
      'agents that agents start: list, show, stop, steer',
      () => import('#cli/commands/subagents.ts'),
    ],
    ['teams', 'teams of agents: a lead, members, and their board', () => import('#cli/commands/teams.ts')],
    [
      'tasks',
      'the board of a team: list, show, create, and all that is done to tasks',
      () => import('#cli/commands/team-tasks.ts'),
    ],
  ],
  'Rules, tools and limits:': [
    ['tools', 'tools: list, show, invoke, custom', () => import('#cli/commands/tools.ts')],
    [
      'policy',
      "the tenant's policy: show, set, history, restore, backtest",
      () => import('#cli/commands/policy.ts'),
    ],
    [
      'allowlist',
      'what was allowed always: list, revoke',
      of(async () => (await import('#domain/resource/exec-allowlist.ts')).execAllowlist),
    ],
    [
      'explain',
      'what would be decided, by which rule, and what would change it',
      () => import('#cli/commands/explain.ts'),
    ],
    [
      'secrets',
      'values that settings refer to as secret://NAME: list, set, delete, rotate',
      () => import('#cli/commands/secrets.ts'),
    ],
    [
      'secure-clis',
      'programs that agents run with credentials: list, show, set, delete',
      () => import('#cli/commands/secure-clis.ts'),
    ],
    [
      'budgets',
      'what work may use, and has used: list, show, accounts, add, set, unset, delete',
      () => import('#cli/commands/budgets.ts'),
    ],
    ['usage', 'what models were used and what they cost', () => import('#cli/commands/usage.ts')],
  ],
  'Help:': [
    [
      'completion',
      'words to complete at Tab, for bash, zsh or fish',
      () => import('#cli/commands/completion.ts'),
    ],
  ],
};

export const COMMANDS: readonly CommandEntry[] = Object.entries(GROUPS).flatMap(([group, rows]) =>
  rows.map(([name, summary, load]) => ({ group, name, summary, load })),
);
