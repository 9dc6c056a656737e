/** `tempoclaw tasks`: a team's board as a table, one task, and every action on it. */
import type { Command } from 'commander';
import {
  type ApiOptions,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { indent, printFields, printJson, statusStyle } from '#cli/output.ts';
import { agoWords, printable } from '#cli/text.ts';
import type { TeamTask, TeamTaskReceipt } from '#cli/wire.ts';
import { TASK_ACTIONS } from '#domain/team-task.ts';

interface ListOptions extends PageOptions {
  readonly status?: string;
  readonly owner?: string;
  readonly priority?: string;
  readonly search?: string;
}

interface CreateOptions extends ApiOptions {
  readonly description?: string;
  readonly assignee?: string;
  readonly priority?: string;
  readonly blockedBy?: string;
  readonly requireApproval?: boolean;
}

interface ActOptions extends ApiOptions {
  readonly member?: string;
  readonly token?: string;
  readonly text?: string;
  readonly type?: string;
  readonly percent?: string;
  readonly assignee?: string;
}

export function register(tasks: Command): void {
  withPageOptions(
    tasks
      .command('list')
      .description('the board, newest first')
      .argument('<team>')
      .option(
        '--status <status>',
        'pending, in_progress, in_review, blocked, completed, failed, cancelled or stale',
      )
      .option('--owner <agent>', 'who has it or is to do it')
      .option('--priority <n>')
      .option('--search <words>', 'words of subject and description'),
  ).action(list);
  withApiOptions(
    tasks.command('show').description('one task with its result').argument('<team>').argument('<task>'),
  ).action(show);
  withApiOptions(
    tasks
      .command('create')
      .description('make a task')
      .argument('<team>')
      .argument('<subject>')
      .option('--description <text>', 'all that the member needs to know')
      .option('--assignee <agent>', 'the member that does it; anyone may claim it without')
      .option('--priority <n>')
      .option('--blocked-by <tasks>', 'numbers of tasks that come first, with commas between them')
      .option('--require-approval', 'nobody begins before it is approved'),
  ).action(create);
  for (const action of TASK_ACTIONS.filter((one) => one !== 'attach' && one !== 'update'))
    withApiOptions(
      tasks
        .command(action.replaceAll('_', '-'))
        .description(DESCRIPTIONS[action] ?? action)
        .argument('<team>')
        .argument('<task>')
        .option('--member <agent>', 'as whom; else with the rights of the lead')
        .option('--token <token>', 'of the lease, as claim gave it')
        .option('--text <text>', 'result, comment, reason, question or answer')
        .option('--type <type>', 'comment: note or blocker')
        .option('--percent <n>', 'progress: 0 to 100')
        .option('--assignee <agent>', 'assign, retry: to whom'),
    ).action((team: string, task: string, options: ActOptions) => act(action, team, task, options));
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  claim: 'claim it for a member; prints the lease’s token',
  renew: 'renew the lease',
  release: 'give it back to the board',
  progress: 'report progress',
  comment: 'say something; --type blocker fails it and tells the lead',
  complete: 'complete it, with --text as the result',
  review: 'submit it for review',
  approve: 'approve what is in review',
  reject: 'give it back, with --text as the reason',
  assign: 'assign it to --assignee',
  cancel: 'cancel it',
  ask_user: 'ask the user; it waits',
  clear_ask_user: 'the question is answered, by --text',
  retry: 'begin a failed, stale or cancelled one anew',
};

async function list(team: string, options: ListOptions): Promise<void> {
  const now = Date.now();
  const { status, owner, priority, search: q } = options;
  await printPage<TeamTask>(
    createContext(options),
    pathOf('teams', team, 'tasks'),
    { ...pageQuery(options), status, owner, priority, q },
    [
      { title: 'task', cell: (task) => `#${task.number}` },
      { title: 'status', cell: (task) => task.status, style: (task) => statusStyle(task.status) },
      { title: 'who', cell: (task) => task.owner ?? task.assignee ?? '' },
      { title: '%', cell: (task) => task.percent },
      { title: 'subject', cell: (task) => task.subject, flexible: true },
      {
        title: 'waits for',
        cell: (task) => task.waiting_for.map((id) => `#${id.split('.').at(-1)}`).join(' '),
      },
      { title: 'changed', cell: (task) => agoWords(task.updated_at, now) },
    ],
    'No tasks.',
  );
}

async function show(team: string, id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const task = await client.get<TeamTask>(pathOf('teams', team, 'tasks', id));
  if (json) return printJson(out, task);
  const { result, description, links, lease, blocked_by, waiting_for, ...fields } = task;
  printFields(out, {
    ...fields,
    holder: lease ? `${lease.member}${lease.until ? ` until ${lease.until}` : ''}` : undefined,
    blocked_by: blocked_by.length > 0 ? blocked_by.join(', ') : undefined,
    waiting_for: waiting_for.length > 0 ? waiting_for.join(', ') : undefined,
    temporal: links.temporal,
  });
  if (description) out.line(`\n${indent(printable(description))}`);
  if (result) out.line(`\nresult:\n${indent(printable(result))}`);
}

async function create(team: string, subject: string, options: CreateOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { description, assignee, priority, blockedBy, requireApproval } = options;
  const task = await client.post<TeamTask>(pathOf('teams', team, 'tasks'), {
    subject,
    description,
    assignee,
    priority: priority === undefined ? undefined : Number(priority),
    blocked_by: blockedBy?.split(',').map((one) => one.trim()),
    require_approval: requireApproval ? true : undefined,
  });
  if (json) return printJson(out, task);
  out.line(`#${task.number} is made (${task.status})`);
}

async function act(action: string, team: string, id: string, options: ActOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const { member, token, text, type, percent, assignee } = options;
  const body = Object.fromEntries(
    Object.entries({
      member,
      token,
      text,
      type,
      percent: percent === undefined ? undefined : Number(percent),
      assignee,
    }).filter(([, value]) => value !== undefined),
  );
  const receipt = await client.post<TeamTaskReceipt>(pathOf('teams', team, 'tasks', id, action), body);
  if (json) return printJson(out, receipt);
  out.line(
    receipt.note ??
      `#${receipt.number} is ${receipt.status}${receipt.owner ? `, with ${receipt.owner}` : ''}`,
  );
  if (receipt.lease) out.line(`token ${receipt.lease.token} until ${receipt.lease.until}`);
}
