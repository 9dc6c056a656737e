/** Every command in the order and the groups of the help. A module is loaded when its command is used. */
import type { Command } from 'commander';
import type { Feature } from '#domain/feature.ts';
import type { Resource } from '#domain/resource/define-resource.ts';
import { SOURCE_ENDING } from '#domain/source-ending.ts';

/** An option that commands share (program.ts). */
export type SharedOption = 'json' | 'url' | 'apiKey' | 'stateDir' | 'config';

/** A module of commands. */
export interface CommandModule {
  /**
   * Adds to the command, which has its name and summary, its own options, its arguments and its subcommands. `whole`
   * builds the complete command tree.
   */
  register(command: Command, whole: () => Promise<Command>): void;
}

/** The headings of the help. */
export type CommandGroup =
  | 'Start and look after:'
  | 'Talk:'
  | 'Agents and their work:'
  | 'Rules, tools and limits:'
  | 'Help:';

export interface CommandEntry {
  readonly group: CommandGroup;
  readonly name: string;
  readonly summary: string;
  readonly takes: readonly SharedOption[];
  /** Each loaded module completes the command. */
  readonly loads: readonly Load[];
}

/** Loads a module of commands, or a resource whose definition has them. */
type Load = () => Promise<CommandModule | Resource>;

/**
 * `from` is the module's file, if it is not the file of that name in commands/. `takes` has the usual options of an API
 * command when absent.
 */
type Row = readonly [
  name: string,
  summary: string,
  more?: { readonly takes?: readonly SharedOption[]; readonly from?: Load },
];

const API: readonly SharedOption[] = ['json', 'url', 'apiKey', 'stateDir'];

const runProcess = () => import('./commands/run-process.ts');
const agentLinks = async () => (await import('#domain/resource/agent-links.ts')).agentLinks;
const allowlist = async () => (await import('#domain/resource/exec-allowlist.ts')).execAllowlist;
const egress = async () => (await import('#domain/resource/egress.ts')).egress;
const delegations = async () => (await import('#domain/resource/assignments.ts')).delegations;
const apiKeys = async () => (await import('#domain/resource/api-keys.ts')).apiKeys;
const tenants = async () => (await import('#domain/resource/api-keys.ts')).tenants;
const teams = async () => (await import('#domain/resource/teams.ts')).teams;

const GROUPS: Readonly<Record<CommandGroup, readonly Row[]>> = {
  'Start and look after:': [
    ['open', "open the web console, Temporal's web UI or the API's docs"],
    ['api', 'run one API process of a deployment, until SIGTERM', { takes: [], from: runProcess }],
    ['worker', 'run one worker process of a deployment, until SIGTERM', { takes: [], from: runProcess }],
    ['reload', 'read the settings again, in every process, without disturbing a turn'],
    ['gateway', 'the deployment for its operators: status, health, config, reload'],
  ],
  'Talk:': [
    ['approvals', 'calls that wait for a person: list, show, approve, reject, respond, link, watch, notify'],
    ['sessions', 'conversations: list, show, messages, events, stop'],
    ['turns', 'turns of a session: list, show one with its tool calls'],
  ],
  'Agents and their work:': [
    ['agents', 'agents: list, show, create, update, delete'],
    [
      'files',
      'context files and memory of agents: list, show, set, delete, versions, compare, restore, undo',
    ],
    ['agent-links', 'which agent may give work to which: list, show, add, set, delete', { from: agentLinks }],
    ['delegations', 'work that agents give to each other: list, show, stop', { from: delegations }],
    ['subagents', 'agents that agents start: list, show, stop, steer'],
    ['teams', 'teams of agents: a lead, members, and their board', { from: teams }],
    [
      'tasks',
      'the board of a team: list, show, create, and all that is done to tasks',
      { from: () => import('#cli/commands/team-tasks.ts') },
    ],
  ],
  'Rules, tools and limits:': [
    ['tools', 'tools: list, show, invoke, disable, enable'],
    ['policy', "the tenant's policy: show, set, history, restore, backtest, proposals"],
    ['allowlist', 'what was allowed always: list, revoke', { from: allowlist }],
    ['egress', 'what tools have asked of the outside: list', { from: egress }],
    ['api-keys', 'keys of the API: list, create, revoke, me', { from: apiKeys }],
    ['tenants', 'tenants of the deployment, for its operator: list, create', { from: tenants }],
    ['secrets', 'values that settings refer to as secret://NAME: list, set, delete, rotate'],
    ['budgets', 'what work may use, and has used: list, show, use, accounts, add, set, unset, delete'],
    ['usage', 'what models were used and what they cost'],
    ['forget', 'forget what was said: session, user, list, show, retention, retain'],
  ],
  'Help:': [['completion', 'words to complete at Tab, for bash, zsh or fish', { takes: [] }]],
};

/** The commands of the core and of features, in the order of the help. */
export function commandsOf(features: readonly Feature[]): readonly CommandEntry[] {
  const added = features.flatMap(({ commands = [] }) => commands);
  const entries = Object.entries(GROUPS).flatMap(([group, rows]) => {
    const commands = rows.map(([name, summary, { takes = API, from } = {}]) => ({
      name,
      summary,
      takes,
      load: from ?? (() => import(`#cli/commands/${name}${SOURCE_ENDING}`) as Promise<CommandModule>),
      group: group as CommandGroup,
    }));
    for (const { before, takes = API, ...command } of added.filter((one) => one.group === group)) {
      const at = commands.findIndex(({ name }) => name === before);
      const load = () => command.load(features);
      commands.splice(at === -1 ? commands.length : at, 0, { ...command, takes, load });
    }
    return commands;
  });
  return entries.map(({ load, ...entry }) => {
    const below = features.flatMap(({ subcommands }) => subcommands?.[entry.name] ?? []);
    return { ...entry, loads: [load, ...below.map((one) => () => one(features))] };
  });
}
