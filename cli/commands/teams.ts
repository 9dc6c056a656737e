/** Implements `tempoclaw teams`: the commands of the definition, and the actions on their boards. */
import type { Command } from 'commander';
import { teams as resource } from '#domain/resource/teams.ts';
import { addList } from '#cli/api-commands.ts';
import { addCommands } from '#cli/resource-commands.ts';
import type { TeamTaskEvent } from '#cli/wire.ts';

export function register(teams: Command): void {
  addCommands(teams, resource);
  addList<TeamTaskEvent>(teams, {
    word: 'events',
    help: 'what was done to its tasks, newest first',
    path: '/v1/teams/:team/events',
    flags: { task: { flags: '--task <number>', help: 'only this task' } },
    columns: [
      { title: 'task', cell: (event) => `#${event.number}` },
      { title: 'what', cell: (event) => event.action },
      { title: 'by', cell: (event) => event.actor },
      { title: 'status', cell: (event) => event.status },
      { title: 'reason', cell: (event) => event.reason ?? '', flexible: true },
      { title: 'when', cell: (event) => event.at, ago: true },
    ],
    nothing: 'Nothing was done yet.',
  });
}
