/** Implements `tempoclaw approvals watch`: it waits for approvals, and asks about each in place. */
import type { Command } from 'commander';
import { decideCommands, receiptWords } from '#cli/approvals/approval-words.ts';
import { CliError, EXIT } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext, pathOf } from '#cli/command-context.ts';
import type { Approval } from '#cli/wire.ts';
import { watchApprovals } from '../approvals/approval-watch.ts';
import { approvalLines, settleApproval } from '../approvals/ask-approval.ts';

export function register(approvals: Command): void {
  approvals
    .command('watch')
    .description('wait for approvals and, at a terminal, decide each in place; --json prints one a line')
    .option('--print-only', 'ask nothing')
    .action(watch);
}

async function watch(options: ApiOptions & { printOnly?: boolean }): Promise<void> {
  const context = createContext(options);
  const { client, err } = context;
  const asks = context.canAsk && !options.printOnly;
  // A failure to reach the API shows immediately.
  await client.get(pathOf('approvals'), { limit: 1 });
  err.line(err.paint('dim', 'waiting for approvals; Ctrl-C leaves'));
  await watchApprovals({
    client,
    handle: (approval, gone) => (asks ? askOne(context, approval, gone) : printOne(context, approval)),
    onConnection: (reason) => err.line(err.paint('yellow', reason ?? 'The API is back.')),
  });
}

async function printOne({ out, json }: CommandContext, approval: Approval): Promise<void> {
  if (json) return out.line(JSON.stringify(approval));
  for (const line of approvalLines(approval, out)) out.line(line);
  out.line(`  to decide: ${decideCommands(approval.id)}`);
}

async function askOne({ client, err }: CommandContext, approval: Approval, gone: AbortSignal): Promise<void> {
  const end = await settleApproval({ client, output: err, say: (line) => err.line(line) }, approval, gone);
  if (end === 'interrupted') throw new CliError('Left.', { exitCode: EXIT.interrupted, code: 'Interrupted' });
  if (end === 'gone') err.line(err.paint('yellow', '  it was decided, edited, or expired, meanwhile'));
  if (typeof end === 'object') err.line(err.paint('green', `  ${receiptWords(end)}`));
}
