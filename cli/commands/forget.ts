/** Implements `tempoclaw forget`: it forgets a session or a user, and shows the receipts and the retention periods. */
import type { Command } from 'commander';
import type { Forgetting, Retention } from '#domain/forgetting.ts';
import { forgettings } from '#domain/resource/forgettings.ts';
import { addApiCommand } from '#cli/api-commands.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { printFields } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';

export function register(forget: Command): void {
  for (const [word, path, what] of [
    [
      'session',
      '/v1/sessions/:session',
      'what was said and done in a session, and in those that worked for it',
    ],
    ['user', '/v1/users/:user', 'all sessions of a user, and what is his own'],
  ] as const)
    addApiCommand(forget, {
      word,
      help: `${what}: rows, files and Temporal runs`,
      method: 'DELETE',
      path,
      print: ({ out }, { id }: Forgetting) =>
        out.line(`it is being forgotten; what has gone: npx tempoclaw forget show ${id}`),
    });
  addCommands(forget, forgettings);
  addApiCommand(forget, {
    word: 'retention',
    help: 'for how long what is kept, as the tenant says',
    path: '/v1/retention',
    print({ out, err }, retention: Retention) {
      if (Object.keys(retention).length === 0)
        err.line('The tenant says nothing; what the settings say holds.');
      else printFields(out, retention);
    },
  });
  addApiCommand(forget, {
    word: 'retain',
    help: 'say for how long what is kept, in a file: YAML or JSON; - is a pipe',
    method: 'PUT',
    path: '/v1/retention',
    arguments: ['file'],
    sends: ({ file }) => readObjectFile(file, 'days such as {"events_days":30}'),
    print: ({ out }) => out.line('what is older goes within minutes'),
  });
}
