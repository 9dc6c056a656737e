/** `tempoclaw teams`: the commands of the definition, and what was done on their boards. */
import type { Command } from 'commander';
import { teams as resource } from '#domain/resource/teams.ts';
import {
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  withPageOptions,
} from '#cli/command-context.ts';
import { addCommands } from '#cli/resource-commands.ts';
import { agoWords } from '#cli/text.ts';
import type { TeamTaskEvent } from '#cli/wire.ts';

export function register(teams: Command): void {
  addCommands(teams, resource);
  withPageOptions(
    teams
      .command('events')
      .description('what was done to its tasks, newest first')
      .argument('<team>')
      .option('--task <number>', 'only this task'),
  ).action(events);
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
