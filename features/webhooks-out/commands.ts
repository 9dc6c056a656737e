/** Implements `tempoclaw approvals notify`: it tests whether notifications of approvals arrive. */
import type { Command } from 'commander';
import { addCommands } from '#cli/api-commands.ts';
import { CliError } from '#cli/cli-error.ts';
import { oneLine } from '#cli/text.ts';
import { approvalNotifications } from './resource.ts';

export function register(approvals: Command): void {
  const notify = approvals.command('notify').description('those who are told of approvals: test');
  addCommands(notify, approvalNotifications, {
    testNotifications: {
      print({ out }, { data }) {
        for (const { url, status, problem } of data)
          out.line(oneLine(`${url}: ${status}${problem === null ? '' : `: ${problem}`}`, 600));
        const missed = data.filter(({ status }) => status !== 'delivered').length;
        if (missed > 0)
          throw new CliError(`${missed} of ${data.length} were not reached.`, { code: 'Unreached' });
      },
    },
  });
}
