/** Implements `tempoclaw tasks`: a team's board, one task, and every action on it. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { teamTaskActions, teamTasks } from '#domain/resource/team-tasks.ts';
import { addCommands } from '#cli/api-commands.ts';
import { readBytes } from '#cli/object-file.ts';

export function register(tasks: Command): void {
  addCommands(tasks, teamTasks);
  addCommands(tasks, teamTaskActions, {
    attachTaskFile: {
      sends: ({
        member,
        token,
        file,
      }: {
        readonly member?: string;
        readonly token?: string;
        readonly file: string;
      }) => ({
        member,
        token,
        file: { name: basename(file), content: readBytes(file).toString('base64') },
      }),
    },
  });
}
