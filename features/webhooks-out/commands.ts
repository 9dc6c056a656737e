/** Implements `tempoclaw approvals notify`: it tests whether notifications of approvals arrive. */
import type { Command } from 'commander';
import { addApiCommand } from '#cli/api-commands.ts';
import { CliError } from '#cli/cli-error.ts';
import { oneLine } from '#cli/text.ts';
import type { NotifyTest } from './schema.ts';

export function register(approvals: Command): void {
  const notify = approvals.command('notify').description('those who are told of approvals: test');
  addApiCommand(notify, {
    word: 'test',
    help: 'send a test to each webhook and mail address; exit 1 when one was not reached',
    method: 'POST',
    path: '/v1/approvals/notify-test',
    flags: { to: { flags: '--to <webhook>', help: 'only to this one, by id, URL or mail address' } },
    print({ out }, { data }: { readonly data: readonly NotifyTest[] }) {
      for (const { url, status, problem } of data)
        out.line(oneLine(`${url}: ${status}${problem === null ? '' : `: ${problem}`}`, 600));
      const missed = data.filter(({ status }) => status !== 'delivered').length;
      if (missed > 0)
        throw new CliError(`${missed} of ${data.length} were not reached.`, { code: 'Unreached' });
    },
  });
}
