/** The tasks of teams (TE-2 … TE-6): creating and reading them, and the actions on one. */
import { z } from 'zod';
import { nameSchema, pageQuery, pageSchema } from '../schema/scalars.ts';
import {
  taskActionSchema,
  taskCommentSchema,
  taskCreateSchema,
  taskFileSchema,
  taskReceiptSchema,
  taskSchema,
} from '../schema/team-task.ts';
import { TASK_ACTIONS, TASK_FILTERS, type TaskAction } from '../team/team-task.ts';
import { type Flags, indent } from './command.ts';
import { defineResource, operation } from './define-resource.ts';

const all = { path: '/v1/teams/:team/tasks', params: z.object({ team: z.string() }) };
const one = {
  method: 'GET',
  path: `${all.path}/:id`,
  params: all.params.extend({ id: z.string() }),
  scope: 'read',
} as const;

export const teamTasks = defineResource(
  {
    path: all.path,
    tag: 'teams',
    item: taskSchema,
    key: 'id',
    missing: 'There is no task with this id in this team',
  },
  () => ({
    listTeamTasks: operation({
      ...all,
      method: 'GET',
      scope: 'read',
      summary: 'List or search the tasks of a team, newest first',
      query: z.strictObject({
        ...pageQuery,
        status: z.enum(TASK_FILTERS).default('all').describe('`active`: not closed'),
        owner: nameSchema.optional().describe('Who has it or is to do it'),
        priority: z.coerce.number().int().optional(),
        q: z.string().min(1).max(500).optional().describe('Words of subject and description'),
      }),
      answer: pageSchema(taskSchema),
      command: {
        word: 'list',
        help: 'the board, newest first',
        flags: {
          status: [
            '--status <status>',
            'pending, in_progress, in_review, blocked, completed, failed, cancelled or stale',
          ],
          owner: ['--owner <agent>', 'who has it or is to do it'],
          priority: ['--priority <n>'],
          q: ['--search <words>', 'words of subject and description'],
        },
        columns: {
          task: (task) => `#${task.number}`,
          status: 'status',
          who: (task) => task.owner ?? task.assignee ?? '',
          '%': 'percent',
          subject: { flexible: 'subject' },
          'waits for': (task) => task.waiting_for.map((id) => `#${id.split('.').at(-1)}`).join(' '),
          changed: { ago: 'updated_at' },
        },
        nothing: 'No tasks.',
      },
    }),
    getTeamTask: operation({
      ...one,
      summary: 'Get a task with its result',
      answer: taskSchema,
      command: {
        word: 'show',
        help: 'one task with its result',
        params: { id: 'task' },
        fields: ({
          result: _result,
          description: _description,
          links,
          lease,
          blocked_by,
          waiting_for,
          ...fields
        }) => ({
          ...fields,
          holder: lease ? `${lease.member}${lease.until ? ` until ${lease.until}` : ''}` : undefined,
          blocked_by: blocked_by.join(', ') || undefined,
          waiting_for: waiting_for.join(', ') || undefined,
          temporal: links.temporal,
        }),
        says: ({ result, description }) =>
          [
            ...(description ? [`\n${indent(description)}`] : []),
            ...(result ? [`\nresult:\n${indent(result)}`] : []),
          ].join('\n'),
      },
    }),
  }),
  () => ({
    createTeamTask: operation({
      ...all,
      method: 'POST',
      scope: 'run',
      summary: 'Make a task',
      description: 'Its member is woken at once, or when what it waits for is completed.',
      repeatable: true,
      findsFirst: true,
      body: taskCreateSchema,
      answer: taskSchema,
      status: 201,
      refuses: ['Forbidden'],
      command: {
        word: 'create',
        help: 'make a task',
        arguments: ['subject'],
        flags: {
          description: ['--description <text>', 'all that the member needs to know'],
          assignee: ['--assignee <agent>', 'the member that does it; anyone may claim it without'],
          priority: ['--priority <n>'],
          blocked_by: ['--blocked-by <tasks>', 'numbers of tasks that come first, with commas between them'],
          require_approval: ['--require-approval', 'nobody begins before it is approved'],
        },
        says: (task) => `#${task.number} is made (${task.status})`,
      },
    }),
    listTaskComments: operation({
      ...one,
      path: `${one.path}/comments`,
      summary: 'What was said about a task, oldest first',
      query: z.strictObject(pageQuery),
      answer: pageSchema(taskCommentSchema),
      command: {
        word: 'comments',
        help: 'what was said about one, the oldest first',
        params: { id: 'task' },
        columns: { by: 'author', kind: 'kind', text: { flexible: 'text' }, when: { ago: 'created_at' } },
        nothing: 'Nothing was said.',
      },
    }),
    listTaskFiles: operation({
      ...one,
      path: `${one.path}/files`,
      summary: 'The files of a task',
      answer: z.object({ data: z.array(taskFileSchema) }),
      command: {
        word: 'files',
        help: 'the files of one',
        params: { id: 'task' },
        columns: { file: { flexible: 'name' }, bytes: 'size', by: 'author', when: { ago: 'created_at' } },
        nothing: 'No files.',
      },
    }),
    getTaskFile: operation({
      ...one,
      path: `${one.path}/files/:file`,
      params: one.params.extend({ file: z.string().max(200) }),
      summary: 'The content of a file, in base64',
      answer: z.object({ name: z.string(), content: z.string() }),
      command: { none: 'bytes in base64, for programs' },
    }),
  }),
);

/** Enough for an attachment in base64 and the fields around it. */
const MAX_BODY_BYTES = 15_000_000;

/** Flags of every action; each flag applies to some of them. */
const flags = {
  member: ['--member <agent>', 'as whom; else with the rights of the lead'],
  token: ['--token <token>', 'of the lease, as claim gave it'],
  text: ['--text <text>', 'result, comment, reason, question or answer'],
  type: ['--type <type>', 'comment: note or blocker'],
  percent: ['--percent <n>', 'progress: 0 to 100'],
  assignee: ['--assignee <agent>', 'assign, retry: to whom'],
} as const satisfies Flags;

const ownFlags: Partial<Record<TaskAction, Flags>> = {
  attach: { file: ['--file <path>', 'the file', { kind: 'text', required: true }] },
  update: {
    subject: ['--subject <text>'],
    description: ['--description <text>', 'all that the member needs to know'],
    priority: ['--priority <n>'],
    blocked_by: ['--blocked-by <tasks>', 'numbers of tasks that come first, with commas between them'],
  },
};

const ACTIONS: Readonly<Record<TaskAction, readonly [id: string, summary: string, help: string]>> = {
  claim: [
    'claimTask',
    'Claim a task for a member: 409 names who has it',
    'claim it for a member; prints the lease’s token',
  ],
  renew: ['renewTask', 'Renew the lease of a task', 'renew the lease'],
  release: ['releaseTask', 'Give a task back to the board', 'give it back to the board'],
  progress: ['reportTaskProgress', 'Report progress; it does not go back', 'report progress'],
  comment: [
    'commentOnTask',
    'Comment on a task; a blocker fails it and tells the lead',
    'say something; --type blocker fails it and tells the lead',
  ],
  attach: ['attachTaskFile', 'Attach a file to a task', 'attach a file to it'],
  complete: [
    'completeTask',
    'Complete a task: its holder, by the lease’s token, or the lead',
    'complete it, with --text as the result',
  ],
  review: ['handInTask', 'Submit a task for review', 'submit it for review'],
  approve: ['approveTask', 'Approve what is in review', 'approve what is in review'],
  reject: [
    'rejectTask',
    'Give what is in review back, with the reason',
    'give it back, with --text as the reason',
  ],
  assign: ['assignTask', 'Assign a task to a member', 'assign it to --assignee'],
  cancel: ['cancelTask', 'Cancel a task; those that wait for it stay blocked', 'cancel it'],
  update: [
    'updateTask',
    'Change subject, description, priority or what it waits for',
    'change subject, description, priority or what it waits for',
  ],
  ask_user: ['askUserOfTask', 'Ask the user; the task waits, with reminders', 'ask the user; it waits'],
  clear_ask_user: [
    'clearQuestionOfTask',
    'The question is answered or no longer asked',
    'the question is answered, by --text',
  ],
  retry: [
    'retryTask',
    'Begin a failed, stale or cancelled task anew',
    'begin a failed, stale or cancelled one anew',
  ],
};

function actionOf(action: TaskAction, path: string) {
  const [, summary, help] = ACTIONS[action];
  return operation({
    ...one,
    method: 'POST',
    path: `${one.path}/${path}`,
    scope: 'run',
    repeatable: true,
    findsFirst: true,
    summary,
    body: taskActionSchema,
    ...(action === 'attach' && { maxBytes: MAX_BODY_BYTES }),
    answer: taskReceiptSchema,
    // A submitted result may first need a review.
    ...((action === 'complete' || action === 'review') && { mayGoOn: true as const }),
    refuses: ['Forbidden', 'Conflict'],
    command:
      path === action
        ? {
            word: action.replaceAll('_', '-'),
            help,
            params: { id: 'task' },
            flags: { ...flags, ...ownFlags[action] },
            says: ({ note, number, status, owner, lease }) =>
              [
                note ?? `#${number} is ${status}${owner ? `, with ${owner}` : ''}`,
                ...(lease ? [`token ${lease.token} until ${lease.until}`] : []),
              ].join('\n'),
          }
        : { by: 'tasks review' },
  });
}

/** Each action is a POST of its name; `submit_for_review` is another name for `review`. */
export const taskOperations: ReadonlyMap<string, TaskAction> = new Map([
  ...TASK_ACTIONS.map((action) => [ACTIONS[action][0], action] as const),
  ['submitTaskForReview', 'review'],
]);

export const teamTaskActions = defineResource(
  { path: all.path, tag: 'teams', item: taskSchema, key: 'id', missing: teamTasks.missing },
  () =>
    Object.fromEntries(
      Array.from(taskOperations, ([id, action]) => [
        id,
        actionOf(action, id === 'submitTaskForReview' ? 'submit_for_review' : action),
      ]),
    ),
);
