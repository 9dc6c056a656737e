/** Implements `tempoclaw tasks`: a team's board, one task, and every action on it. */
import type { Command } from 'commander';
import { teamTaskActions, teamTasks } from '#domain/resource/team-tasks.ts';
import { addCommands } from '#cli/api-commands.ts';

export function register(tasks: Command): void {
  addCommands(tasks, teamTasks);
  addCommands(tasks, teamTaskActions);
}
