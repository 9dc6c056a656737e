/** `tempoclaw teams`: make, show, change and delete teams, and what was done on their boards. */
import type { Command } from 'commander';
import {
  type ApiOptions,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  readJsonObject,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { printFields, printJson } from '#cli/output.ts';
import { agoWords } from '#cli/text.ts';
import type { Team, TeamTaskEvent } from '#cli/wire.ts';

interface TeamOptions extends ApiOptions {
  readonly lead?: string;
  readonly members?: string;
  readonly name?: string;
  readonly description?: string;
  readonly settings?: string;
}

export function register(teams: Command): void {
  withPageOptions(teams.command('list').description('all teams')).action(list);
  withApiOptions(teams.command('show').description('one team').argument('<team>')).action(show);
  withTeamOptions(teams.command('create').description('make a team').argument('<team>')).action(create);
  withTeamOptions(
    teams.command('update').description('change a team; what is not given stays').argument('<team>'),
  ).action(update);
  withApiOptions(
    teams.command('delete').description('delete a team; its tasks stay as rows').argument('<team>'),
  ).action(remove);
  withPageOptions(
    teams
      .command('events')
      .description('what was done to its tasks, newest first')
      .argument('<team>')
      .option('--task <number>', 'only this task'),
  ).action(events);
}

function withTeamOptions(command: Command): Command {
  return withApiOptions(command)
    .option('--lead <agent>', 'who leads it')
    .option('--members <agents>', 'keys of agents, with commas between them')
    .option('--name <text>', 'a name for people')
    .option('--description <text>', 'what it is for')
    .option('--settings <json>', 'such as {"progress_notifications":true}');
}

async function list(options: PageOptions): Promise<void> {
  await printPage<Team>(
    createContext(options),
    pathOf('teams'),
    pageQuery(options),
    [
      { title: 'team', cell: (team) => team.key },
      { title: 'lead', cell: (team) => team.lead },
      { title: 'members', cell: (team) => team.members.join(', '), flexible: true },
    ],
    'No teams.',
  );
}

async function show(key: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const team = await client.get<Team>(pathOf('teams', key));
  if (json) return printJson(out, team);
  const { members, settings, ...fields } = team;
  printFields(out, { ...fields, members: members.join(', '), settings: JSON.stringify(settings) });
}

async function create(key: string, options: TeamOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const team = await client.post<Team>(pathOf('teams'), { key, ...changesOf({ members: '', ...options }) });
  if (json) return printJson(out, team);
  out.line(`team ${team.key} is made: ${team.lead} leads ${team.members.join(', ') || 'nobody yet'}`);
}

async function update(key: string, options: TeamOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const team = await client.patch<Team>(pathOf('teams', key), changesOf(options));
  if (json) return printJson(out, team);
  out.line(`team ${team.key} is changed`);
}

async function remove(key: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  await client.delete(pathOf('teams', key));
  if (json) return printJson(out, { key, deleted: true });
  out.line(`team ${key} is deleted`);
}

async function events(key: string, options: PageOptions & { readonly task?: string }): Promise<void> {
  const now = Date.now();
  await printPage<TeamTaskEvent>(
    createContext(options),
    pathOf('teams', key, 'events'),
    { ...pageQuery(options), task: options.task },
    [
      { title: 'task', cell: (event) => `#${event.number}` },
      { title: 'what', cell: (event) => event.action },
      { title: 'by', cell: (event) => event.actor },
      { title: 'status', cell: (event) => event.status },
      { title: 'reason', cell: (event) => event.reason ?? '', flexible: true },
      { title: 'when', cell: (event) => agoWords(event.at, now) },
    ],
    'Nothing was done yet.',
  );
}

function changesOf({ lead, members, name, description, settings }: TeamOptions): Record<string, unknown> {
  return {
    lead,
    members: members?.split(',').flatMap((one) => one.trim() || []),
    name,
    description,
    settings: settings === undefined ? undefined : readJsonObject(settings, '--settings'),
  };
}
