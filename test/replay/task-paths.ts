/** The paths of a team's task, for test/replay/record.ts: each in a team of its own, over HTTP as any client would. */
import { workflowIdOf } from '#test/support/live-worker.ts';
import type { Stack } from '#test/support/stack.ts';

/** What a path gets: its team's board. */
interface Board {
  readonly stack: Stack;
  readonly team: string;
  make(task: Record<string, unknown>): Promise<number>;
  act(task: number, action: string, words?: Record<string, unknown>): Promise<any>;
  /** Resolves when the task has the status. */
  until(task: number, status: string): Promise<void>;
}

/** Comments that make more events than RUN_EVENTS of workflows/team-task.ts. */
const FLOOD = 150;

const member = 'm1';

/** The last three have gates on what they submit; see record.ts. */
const MEMBERS = [member, 'm2', 'gated', 'submits', 'endless'];

async function claimed(
  { make, act }: Board,
  seconds = 600,
  by = member,
): Promise<{ task: number; token: string }> {
  const task = await make({ subject: 'By hand' });
  const { lease } = await act(task, 'claim', { member: by, lease_seconds: seconds });
  return { task, token: lease.token as string };
}

/** Submits work and waits until its gates have judged it. */
async function handIn(
  { stack, team, act }: Board,
  task: number,
  words: Record<string, unknown>,
): Promise<void> {
  await act(task, 'complete', words);
  await stack.worker.until(`${team} #${task} to be judged`, async () => {
    const { body } = await stack.ask('GET', `/v1/teams/${team}/tasks/${task}`);
    return body.judging ? undefined : true;
  });
}

/** A member's turn holds in a tool while `meanwhile` happens; then the tool is released. */
async function held(board: Board, meanwhile: (task: number) => Promise<void>): Promise<void> {
  const { probes } = board.stack.worker;
  const note = `${board.team}-held`;
  const description = `hold {"note":"${note}"}\nthen\nHeld.`;
  const task = await board.make({ subject: 'Held', description, assignee: member });
  await probes.untilHeld(note);
  await meanwhile(task);
  probes.release(note);
}

/** A task that waits for another, and goes to its member when that is completed. */
const freed: TaskPath = async ({ make, act, until }) => {
  const first = await make({ subject: 'First' });
  const second = await make({ subject: 'Second', blocked_by: [first], assignee: member });
  await act(first, 'complete', { text: 'First.' });
  await until(second, 'completed');
};

/** A lead's turn makes it; the end of that turn sends it to its member. */
const ofTurn: TaskPath = async ({ stack, team, until }) => {
  const created = { action: 'create', team, subject: 'Asked for', description: 'Given.', assignee: member };
  const checked = JSON.stringify({ action: 'list', team });
  const script = `team_tasks ${checked}\nthen\nteam_tasks ${JSON.stringify(created)}\nthen\nOn it.`;
  await stack.worker.ended((await stack.worker.say(team, script)).turn_id);
  await until(1, 'completed');
  await stack.worker.until(
    'the lead to hear',
    async () => (await stack.worker.turns(team))[1]?.ended_at ?? undefined,
  );
  return [workflowIdOf(stack.worker, team)];
};

/** Returns the ids of workflows besides the tasks' own, if there are any to record. */
type TaskPath = (board: Board) => Promise<readonly string[] | void>;

export const TASK_PATHS: Readonly<Record<string, TaskPath>> = {
  async 'task-claimed'(board) {
    const { task, token } = await claimed(board);
    await board.act(task, 'claim', { member: 'm2' }).catch(() => undefined);
    await board.act(task, 'renew', { member, token });
    await board.act(task, 'progress', { member, token, percent: 40, text: 'Nearly half.' });
    await board.act(task, 'comment', { text: 'Fine.' });
    await board.act(task, 'attach', { member, token, file: { name: 'a.txt', content: 'YQ==' } });
    await board.act(task, 'complete', { member, token, text: 'Done.' });
  },
  async 'task-released'(board) {
    const { task, token } = await claimed(board);
    await board.act(task, 'release', { member, token });
    await board.act(task, 'update', { subject: 'By another', priority: 3 });
    await board.act(task, 'complete', { member: 'm2', text: 'Taken and done.' });
  },
  async 'task-stale'(board) {
    const { task } = await claimed(board, 1);
    for (let n = 0; n < 2; n += 1) {
      await board.until(task, 'pending');
      await board.act(task, 'claim', { member, lease_seconds: 1 });
    }
    await board.until(task, 'stale');
    await board.act(task, 'assign', { assignee: 'm2' });
    await board.until(task, 'completed');
  },
  async 'task-dispatched'({ make, until }) {
    await until(await make({ subject: 'Say it', description: 'Said.', assignee: member }), 'completed');
  },
  async 'task-completed-by-member'({ make, until }) {
    const description = 'team_tasks {"action":"complete","result":"By the tool."}\nthen\nOver.';
    await until(await make({ subject: 'Complete it', description, assignee: member }), 'completed');
  },
  async 'task-refused'({ make, act }) {
    await act(await make({ subject: 'May I?', require_approval: true }), 'reject', { text: 'No.' });
  },
  'task-freed': freed,
  async 'task-waits-in-vain'({ make, act, until }) {
    const first = await make({ subject: 'First' });
    const second = await make({ subject: 'Second', blocked_by: [first], assignee: member });
    await act(first, 'cancel', { text: 'Not needed.' });
    await act(second, 'update', { blocked_by: [] });
    await until(second, 'completed');
  },
  async 'task-opened-by-approval'({ make, act, until }) {
    const task = await make({
      subject: 'May I?',
      description: 'Yes.',
      assignee: member,
      require_approval: true,
    });
    await act(task, 'approve');
    await until(task, 'completed');
  },
  async 'task-reviewed'({ make, act, until }) {
    const description = 'team_tasks {"action":"review","result":"Look."}\nthen\nSubmitted.';
    const task = await make({ subject: 'Look at it', description, assignee: member });
    await until(task, 'in_review');
    await act(task, 'reject', { text: 'Once more.' });
    await until(task, 'in_review');
    await act(task, 'approve', { text: 'Good.' });
  },
  async 'task-blocker'({ make, until }) {
    const description =
      'team_tasks {"action":"comment","type":"blocker","text":"The door is shut."}\nthen\nNo.';
    await until(await make({ subject: 'No way', description, assignee: member }), 'failed');
  },
  async 'task-asks-user'({ make, act, until, stack }) {
    const description = 'team_tasks {"action":"ask_user","text":"Which colour?"}\nthen\nI wait.';
    const task = await make({ subject: 'Paint', description, assignee: member });
    await until(task, 'in_progress');
    await stack.worker.until('the reminder', async () => {
      const { body } = await stack.ask('GET', `/v1/teams/task-asks-user/events?task=${task}`);
      return body.data.some(({ action }: { action: string }) => action === 'remind') || undefined;
    });
    await act(task, 'clear_ask_user', { text: 'Blue.' });
    await act(task, 'cancel');
  },
  async 'task-cancelled-at-work'(board) {
    await held(board, async (task) => void (await board.act(task, 'cancel', { text: 'Enough.' })));
  },
  async 'task-reassigned-at-work'(board) {
    await held(board, async (task) => {
      await board.act(task, 'assign', { assignee: 'm2' });
      board.stack.worker.probes.release(`${board.team}-held`);
      await board.until(task, 'completed');
    });
  },
  async 'task-workflow-cancelled'(board) {
    await held(board, async (task) => {
      const { stack, team } = board;
      await stack.worker.client.workflow.getHandle(`task/${stack.tenant}.${team}/${task}`).cancel();
      await board.until(task, 'cancelled');
    });
  },
  async 'task-retried'({ make, act, until }) {
    const task = await make({ subject: 'Again' });
    await act(task, 'cancel');
    await act(task, 'retry', { assignee: member });
    await until(task, 'completed');
  },
  'task-of-turn': ofTurn,
  async 'task-handed-in'(board) {
    const { task, token } = await claimed(board, 600, 'gated');
    for (const text of ['A draft.', 'An improved draft.'])
      await handIn(board, task, { member: 'gated', token, text });
    await board.until(task, 'completed');
  },
  async 'task-handed-in-blocked'(board) {
    const { task, token } = await claimed(board, 600, 'gated');
    for (const text of ['A draft.', 'Another.']) await handIn(board, task, { member: 'gated', token, text });
    await board.until(task, 'failed');
  },
  async 'task-handed-in-taken-back'(board) {
    const { task, token } = await claimed(board, 600, 'endless');
    await board.act(task, 'complete', { member: 'endless', token, text: 'Done.' });
    await board.act(task, 'release', { member: 'endless', token });
    await board.act(task, 'complete', { member, text: 'By another.' });
  },
  async 'task-handed-in-for-review'({ make, act, until }) {
    const task = await make({ subject: 'Look at it', description: 'Write it.', assignee: 'submits' });
    await until(task, 'in_review');
    await act(task, 'approve', { text: 'Good.' });
  },
  async 'task-goes-on-in-new-run'({ make, act, stack, team }) {
    const task = await make({ subject: 'Much is said' });
    for (let message = 0; message < FLOOD; message += 10)
      await Promise.all(Array.from({ length: 10 }, () => act(task, 'comment', { text: 'x' })));
    await stack.worker.until('a new run', async () => {
      const id = `task/${stack.tenant}.${team}/${task}`;
      const { runId, raw } = await stack.worker.client.workflow.getHandle(id).describe();
      return raw.workflowExecutionInfo?.firstRunId === runId ? undefined : true;
    });
    await act(task, 'complete', { text: 'All of it.' });
  },
};

/** Walks the path and returns the ids of the workflows that it leaves, each to be recorded with its children. */
export async function walkTaskPath(stack: Stack, name: string): Promise<readonly string[]> {
  const settings = { reminder_minutes: 0.02, reminders: 1 };
  const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await stack.ask(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await ask('POST', '/v1/teams', { key: name, lead: 'main', members: MEMBERS, settings });
  const tasks = `/v1/teams/${name}/tasks`;
  const others = await TASK_PATHS[name]?.({
    stack,
    team: name,
    make: async (task) => (await ask('POST', tasks, task)).number as number,
    act: (task, action, words = {}) => ask('POST', `${tasks}/${task}/${action}`, words),
    until: (task, status) =>
      stack.worker.until(`${name} #${task} to be ${status}`, async () =>
        (await ask('GET', `${tasks}/${task}`)).status === status ? (true as const) : undefined,
      ) as Promise<any>,
  });
  const { data } = await ask('GET', tasks);
  const own = data.map(({ workflow_id }: { workflow_id: string }) => workflow_id).toReversed();
  return [...own, ...(others ?? [])];
}
