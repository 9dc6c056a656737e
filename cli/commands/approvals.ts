/** `tempoclaw approvals`: what waits for a person, deciding it, and watching for more. */
import type { Command } from 'commander';
import { APPROVAL_STATUSES } from '#domain/approval.ts';
import {
  alwaysLine,
  approvalLines,
  askApproval,
  decide,
  decideCommands,
  type DecisionBody,
  isRefusedDecision,
  lateWords,
  receiptWords,
} from '#cli/ask-approval.ts';
import { printApproval } from '#cli/approval-detail.ts';
import { watchApprovals } from '#cli/approval-watch.ts';
import { CliError, EXIT, usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  readJsonObject,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { printJson, statusStyle } from '#cli/output.ts';
import { agoWords, oneLine } from '#cli/text.ts';
import type { Approval, ApprovalDetail, ApprovalLink, ApprovalToken, BulkReceipt } from '#cli/wire.ts';

interface ListOptions extends PageOptions {
  readonly status: string;
  readonly session?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly user?: string;
  readonly since?: string;
  readonly before?: string;
  readonly mine?: boolean;
}

interface ApproveOptions extends ApiOptions {
  readonly always?: boolean;
  readonly args?: string;
}

export function register(approvals: Command): void {
  withPageOptions(
    approvals
      .command('list', { isDefault: true })
      .description('what waits for a decision')
      .option('--status <status>', `${APPROVAL_STATUSES.join(', ')} or all`, 'pending')
      .option('--session <key>', 'of one session')
      .option('--agent <key>', 'of one agent')
      .option('--tool <name>', 'of one tool')
      .option('--user <id>', 'of one user’s turns')
      .option('--since <time>', 'asked after this time (2026-01-31T12:00:00Z)')
      .option('--before <time>', 'asked before this time')
      .option('--mine', 'those that your key may decide'),
  ).action(list);
  withApiOptions(
    approvals.command('show').description('one approval with the whole call').argument('<id>'),
  ).action(show);
  withApiOptions(
    approvals
      .command('approve')
      .description('let the calls run')
      .argument('<id...>')
      .option('--always', 'and calls like it from now on')
      .option('--args <json>', 'run it with these arguments instead'),
  ).action(approve);
  withApiOptions(
    approvals
      .command('reject')
      .description('refuse the calls')
      .argument('<id...>')
      .option('--reason <text>', 'the model is told'),
  ).action((ids: string[], options: ApiOptions & { reason?: string }) =>
    send(createContext(options), ids, {
      decision: 'reject',
      reason: options.reason || undefined,
    }),
  );
  withApiOptions(
    approvals
      .command('respond')
      .description('answer the model yourself instead of running the call')
      .argument('<id>')
      .requiredOption('--text <text>', 'what the model reads'),
  ).action((id: string, options: ApiOptions & { text: string }) =>
    send(createContext(options), [id], { decision: 'respond', text: options.text }),
  );
  withApiOptions(
    approvals
      .command('link')
      .description('make a link with which one person decides one approval, once')
      .argument('<id>')
      .requiredOption('--for <user>', 'who decides by it')
      .option('--only <decision>', 'approve or reject, and not the other')
      .option('--expires <seconds>', 'when it ends; with the approval at the latest', readSeconds),
  ).action(link);
  withApiOptions(
    approvals
      .command('token')
      .description('make a token with which a Temporal client decides it')
      .argument('<id>')
      .option('--by <user>', 'who decides with it; your key’s user when it has one'),
  ).action(token);
  withApiOptions(
    approvals
      .command('watch')
      .description('wait for approvals and, at a terminal, decide each in place; --json prints one a line')
      .option('--print-only', 'ask nothing'),
  ).action(watch);
}

async function list(options: ListOptions): Promise<void> {
  const known = options.status === 'all' || APPROVAL_STATUSES.some((status) => status === options.status);
  if (!known)
    throw usageError(`--status must be one of ${APPROVAL_STATUSES.join(', ')} or all, not ${options.status}`);
  const now = Date.now();
  const status = options.status === 'all' ? undefined : options.status;
  await printPage<Approval>(
    createContext(options),
    pathOf('approvals'),
    {
      ...pageQuery(options),
      status,
      session_key: options.session,
      agent: options.agent,
      tool: options.tool,
      user: options.user,
      requested_after: options.since,
      requested_before: options.before,
      mine: options.mine,
    },
    [
      { title: 'approval', cell: (a) => a.id },
      { title: 'status', cell: (a) => a.status, style: (a) => statusStyle(a.status) },
      { title: 'call', cell: (a) => a.summary, flexible: true },
      { title: 'agent', cell: (a) => a.agent },
      { title: 'agreed', cell: (a) => a.tally ?? '' },
      { title: 'always', cell: (a) => oneLine(alwaysLine(a), 40) },
      {
        title: status === 'pending' ? 'expires' : 'asked',
        cell: (a) => agoWords(status === 'pending' ? a.expires_at : a.created_at, now),
      },
    ],
    status === undefined ? 'No approvals.' : `No approvals are ${status}.`,
  );
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const approval = await client.get<ApprovalDetail>(pathOf('approvals', id));
  if (json) printJson(out, approval);
  else printApproval(out, approval);
}

async function approve(ids: string[], options: ApproveOptions): Promise<void> {
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

interface LinkOptions extends ApiOptions {
  readonly for: string;
  readonly only?: string;
  readonly expires?: number;
}

async function link(id: string, options: LinkOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const made = await client.post<ApprovalLink>(pathOf('approvals', id, 'links'), {
    for: options.for,
    decision: options.only,
    expires_seconds: options.expires,
  });
  if (json) return printJson(out, made);
  out.line(made.url ?? '');
  err.line(
    err.paint('dim', `whoever has it decides as ${oneLine(made.for, 80)}, once, until ${made.expires_at}`),
  );
}

async function token(id: string, options: ApiOptions & { by?: string }): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const made = await client.post<ApprovalToken>(pathOf('approvals', id, 'token'), { by: options.by });
  if (json) return printJson(out, made);
  out.line(made.token ?? '');
  const by = made.by === null ? '' : `, with "by": ${JSON.stringify(oneLine(made.by, 80))}`;
  err.line(
    err.paint('dim', `send it as "token" with update or signal "decide"${by}, until ${made.expires_at}`),
  );
}

function readSeconds(value: string): number {
  const seconds = Number(value);
  if (!Number.isInteger(seconds) || seconds < 1)
    throw usageError(`--expires must be a number of seconds, not ${value}`);
  return seconds;
}

/** One request for all; fails when any of them did, after all are told. */
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

async function watch(options: ApiOptions & { printOnly?: boolean }): Promise<void> {
  const context = createContext(options);
  const { client, err } = context;
  const asks = context.canAsk && !options.printOnly;
  // Who cannot be reached at all is told at once.
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
  try {
    const asked = await askApproval(approval, err, gone);
    if (asked === 'interrupted')
      throw new CliError('Left.', { exitCode: EXIT.interrupted, code: 'Interrupted' });
    if (asked === 'gone')
      return err.line(err.paint('yellow', '  it was decided, edited, or expired, meanwhile'));
    if (asked === 'later') return;
    const receipt = await decide(client, approval.id, asked);
    err.line(err.paint('green', `  ${receiptWords(receipt)}`));
  } catch (error) {
    const late = lateWords(error) ?? (isRefusedDecision(error) ? error.message : undefined);
    if (late === undefined) throw error;
    err.line(err.paint('yellow', `  ${late}`));
  }
}
