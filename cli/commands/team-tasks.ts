/** Implements `tempoclaw tasks`: a team's board as a table, one task, and every action on it. */
import type { Command } from 'commander';
import { addApiCommand, addList } from '#cli/api-commands.ts';
import { indent, printFields } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import type { TeamTask, TeamTaskReceipt } from '#cli/wire.ts';
import type { TaskAction } from '#domain/team-task.ts';

/** Flags of every action; each flag applies to some of them. */
const ACTION_FLAGS = {
  member: { flags: '--member <agent>', help: 'as whom; else with the rights of the lead' },
  token: { flags: '--token <token>', help: 'of the lease, as claim gave it' },
  text: { flags: '--text <text>', help: 'result, comment, reason, question or answer' },
  type: { flags: '--type <type>', help: 'comment: note or blocker' },
  percent: { flags: '--percent <n>', help: 'progress: 0 to 100', kind: 'number' },
  assignee: { flags: '--assignee <agent>', help: 'assign, retry: to whom' },
} as const;

const ACTIONS: Readonly<Record<Exclude<TaskAction, 'attach' | 'update'>, string>> = {
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

export function register(tasks: Command): void {
  addBoard(tasks);
  addApiCommand(tasks, {
    word: 'show',
    help: 'one task with its result',
    path: '/v1/teams/:team/tasks/:task',
    print({ out }, task: TeamTask) {
      const { result, description, links, lease, blocked_by, waiting_for, ...fields } = task;
      printFields(out, {
        ...fields,
        holder: lease ? `${lease.member}${lease.until ? ` until ${lease.until}` : ''}` : undefined,
        blocked_by: blocked_by.join(', ') || undefined,
        waiting_for: waiting_for.join(', ') || undefined,
        temporal: links.temporal,
      });
      if (description) out.line(`\n${indent(printable(description))}`);
      if (result) out.line(`\nresult:\n${indent(printable(result))}`);
    },
  });
  addApiCommand(tasks, {
    word: 'create',
    help: 'make a task',
    method: 'POST',
    path: '/v1/teams/:team/tasks',
    arguments: ['subject'],
    flags: {
      description: { flags: '--description <text>', help: 'all that the member needs to know' },
      assignee: { flags: '--assignee <agent>', help: 'the member that does it; anyone may claim it without' },
      priority: { flags: '--priority <n>', kind: 'number' },
      blocked_by: {
        flags: '--blocked-by <tasks>',
        help: 'numbers of tasks that come first, with commas between them',
        kind: 'commas',
      },
      require_approval: { flags: '--require-approval', help: 'nobody begins before it is approved' },
    },
    print: ({ out }, task: TeamTask) => out.line(`#${task.number} is made (${task.status})`),
  });
  for (const [action, help] of Object.entries(ACTIONS))
    addApiCommand(tasks, {
      word: action.replaceAll('_', '-'),
      help,
      method: 'POST',
      path: `/v1/teams/:team/tasks/:task/${action}`,
      flags: ACTION_FLAGS,
      print({ out }, { note, number, status, owner, lease }: TeamTaskReceipt) {
        out.line(note ?? `#${number} is ${status}${owner ? `, with ${owner}` : ''}`);
        if (lease) out.line(`token ${lease.token} until ${lease.until}`);
      },
    });
}

function addBoard(tasks: Command): void {
  addList<TeamTask>(tasks, {
    help: 'the board, newest first',
    path: '/v1/teams/:team/tasks',
    flags: {
      status: {
        flags: '--status <status>',
        help: 'pending, in_progress, in_review, blocked, completed, failed, cancelled or stale',
      },
      owner: { flags: '--owner <agent>', help: 'who has it or is to do it' },
      priority: { flags: '--priority <n>' },
      q: { flags: '--search <words>', help: 'words of subject and description' },
    },
    columns: [
      { title: 'task', cell: (task) => `#${task.number}` },
      { title: 'status', cell: (task) => task.status },
      { title: 'who', cell: (task) => task.owner ?? task.assignee ?? '' },
      { title: '%', cell: (task) => task.percent },
      { title: 'subject', cell: (task) => task.subject, flexible: true },
      {
        title: 'waits for',
        cell: (task) => task.waiting_for.map((id) => `#${id.split('.').at(-1)}`).join(' '),
      },
      { title: 'changed', cell: (task) => task.updated_at, ago: true },
    ],
    nothing: 'No tasks.',
  });
}
