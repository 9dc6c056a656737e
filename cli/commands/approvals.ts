/** Implements `tempoclaw approvals`: it lists what waits for a person, and decides it. */
import type { Command } from 'commander';
import { approvals as resource } from '#domain/resource/approvals.ts';
import { addCommand, printRows } from '#cli/api-commands.ts';
import { alwaysLine, decide, type DecisionBody, receiptWords } from '#cli/approvals/approval-words.ts';
import { printApproval } from '#cli/approvals/approval-detail.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  pathOf,
  readJsonObject,
} from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { oneLine } from '#cli/text.ts';
import type { Approval, ApprovalToken, BulkReceipt, Page } from '#cli/wire.ts';

export function register(approvals: Command): void {
  addCommand(approvals, resource, 'listApprovals', {
    sends: ({ status, ...flags }: { readonly status: string }) => ({
      ...flags,
      status: status === 'all' ? undefined : status,
    }),
    print: printList,
  });
  addCommand(approvals, resource, 'getApproval', {
    print: ({ out }, approval) => printApproval(out, approval),
  });
  addDecisions(approvals);
  addCommand(approvals, resource, 'createDecisionToken', { print: printToken });
}

function printList(
  context: CommandContext,
  page: Page<Approval>,
  { status }: { readonly status: string },
): void {
  const isPending = status === 'pending';
  printRows<Approval>(
    context,
    page,
    {
      approval: 'id',
      status: 'status',
      call: { flexible: 'summary' },
      agent: 'agent',
      agreed: 'tally',
      always: (one) => oneLine(alwaysLine(one), 40),
      [isPending ? 'expires' : 'asked']: { ago: isPending ? 'expires_at' : 'created_at' },
    },
    status === 'all' ? 'No approvals.' : `No approvals are ${status}.`,
  );
}

function addDecisions(approvals: Command): void {
  approvals
    .command('approve <id...>')
    .description('let the calls run')
    .option('--always', 'and calls like it from now on')
    .option('--args <json>', 'run it with these arguments instead')
    .action(approve);
  approvals
    .command('reject <id...>')
    .description('refuse the calls')
    .option('--reason <text>', 'the model is told')
    .action((ids: string[], options: ApiOptions & { reason?: string }) =>
      send(createContext(options), ids, { decision: 'reject', reason: options.reason || undefined }),
    );
  approvals
    .command('respond <id>')
    .description('answer the model yourself instead of running the call')
    .requiredOption('--text <text>', 'what the model reads')
    .action((id: string, options: ApiOptions & { text: string }) =>
      send(createContext(options), [id], { decision: 'respond', text: options.text }),
    );
}

function printToken({ out, err }: CommandContext, made: ApprovalToken): void {
  out.line(made.token ?? '');
  const by = made.by === null ? '' : ` of ${oneLine(made.by, 80)}`;
  const name = made.decision === 'withdraw' || made.decision === 'escalate' ? made.decision : 'decide';
  err.line(
    err.paint(
      'dim',
      `for ${made.decision}${by}: send it once as "token" with update or signal "${name}", until ${made.expires_at}`,
    ),
  );
}

async function approve(
  ids: string[],
  options: ApiOptions & { readonly always?: boolean; readonly args?: string },
): Promise<void> {
  if (options.always && options.args !== undefined)
    throw usageError('--always and --args exclude each other.');
  if (ids.length > 1 && options.args !== undefined)
    throw usageError('--args is for one call: give one id with it.');
  const body: DecisionBody =
    options.args === undefined
      ? { decision: options.always ? 'approve_always' : 'approve' }
      : { decision: 'edit', args: readJsonObject(options.args, '--args') };
  await send(createContext(options), ids, body);
}

async function send(context: CommandContext, ids: readonly string[], body: DecisionBody): Promise<void> {
  const [id] = ids;
  if (ids.length > 1 || id === undefined) return sendMany(context, ids, body);
  const receipt = await decide(context.client, id, body);
  if (context.json) return printJson(context.out, receipt);
  context.out.line(`${id} is ${receiptWords(receipt)}`);
}

/** Sends one request for all; fails when any of them failed, after printing all outcomes. */
async function sendMany(
  { client, out, json }: CommandContext,
  ids: readonly string[],
  body: DecisionBody,
): Promise<void> {
  const answer = await client.post<BulkReceipt>(pathOf('approvals', 'decisions'), { ids, ...body });
  if (json) printJson(out, answer);
  else
    for (const { id, receipt, error } of answer.data)
      out.line(
        receipt ? `${id} is ${receiptWords(receipt)}` : `${id}: ${oneLine(error?.detail ?? 'refused', 300)}`,
      );
  const failed = answer.data.filter(({ ok }) => !ok).length;
  if (failed > 0)
    throw new CliError(`${failed} of ${answer.data.length} were not decided so.`, { code: 'Refused' });
}
