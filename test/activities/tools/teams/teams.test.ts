/** TE: team_tasks and team_message: the words of refusals, and the identity of the caller. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Membership, TeamService } from '#activities/teams/team-service.ts';
import { tool as message } from '#activities/tools/teams/team-message.ts';
import { tool as tasks } from '#activities/tools/teams/team-tasks.ts';
import type { Tool } from '#policy/define-tool.ts';
import { toolBench } from '#test/support/tool-call.ts';

const at = new Date('2026-01-01T00:00:00Z');
const TEAM = {
  key: 'crew',
  name: null,
  description: null,
  lead: 'main',
  members: ['m1', 'm2'],
  settings: {},
  created_at: at,
  updated_at: at,
};

interface ServiceCase {
  readonly looked?: boolean;
  readonly team?: Partial<Membership['team']>;
}

function service(
  role: Membership['role'],
  { looked = true, team = {} }: ServiceCase = {},
): { readonly did: unknown[]; readonly teams: TeamService } {
  const did: unknown[] = [];
  const teams: TeamService = {
    membership: async () => ({ team: { ...TEAM, ...team }, role }),
    hasListed: async () => looked,
    async list(_call, _team, filter) {
      did.push(filter);
      return [];
    },
    find: async () => undefined,
    comments: async () => [],
    files: async () => [],
    waitingFor: async () => [],
    async create(_call, _membership, draft) {
      did.push(draft);
      return { number: 7, child: { type: 'teamTask', id: 'task/default.crew/7', input: {}, wait: false } };
    },
    async act() {
      throw new Error('nothing is done to a task that is not there');
    },
    async send(_call, _membership, to, text) {
      did.push([to, text]);
    },
    read: async () => ({
      messages: [{ id: 'a', sender: 'm1', addressee: 'main', text: 'Hello.', created_at: at }],
      left: 3,
    }),
  };
  return { did, teams };
}

async function run(
  t: Parameters<typeof toolBench>[0],
  tool: Tool,
  teams: TeamService,
  args: Record<string, unknown>,
): Promise<string> {
  const bench = await toolBench(t);
  const result = await bench.run(
    { ...tool, run: (_, input, call) => tool.run({ ...bench.deps, teams } as never, input, call) },
    args,
  );
  return result.ok ? result.text : `${result.code}: ${result.message}`;
}

describe('TE team_tasks', () => {
  const refusals: readonly (readonly [string, Membership['role'], Record<string, unknown>, RegExp])[] = [
    [
      'members create nothing',
      'member',
      { action: 'create', subject: 'x' },
      /Members cannot create tasks\. Use team_tasks\(action="comment"\) to communicate\./,
    ],
    ['a task has a subject', 'lead', { action: 'create' }, /subject is required for create action/],
    [
      'the lead does nothing itself',
      'lead',
      { action: 'create', subject: 'x', assignee: 'main' },
      /team lead cannot assign tasks to itself/,
    ],
    [
      'what it waits for is a task',
      'lead',
      { action: 'create', subject: 'x', blocked_by: ['task-1'] },
      /blocked_by contains invalid task ID/,
    ],
    [
      'tasks of others are left alone',
      'member',
      { action: 'comment', task_id: 'task_other.1', text: 'x' },
      /task does not belong to your team/,
    ],
    ['an action is known', 'lead', { action: 'frobnicate' }, /unknown action: frobnicate/],
    ['a search has words', 'lead', { action: 'search' }, /query is required for search action/],
    ['a task is named', 'lead', { action: 'approve' }, /task_id is required for approve action/],
  ];
  for (const [name, role, args, words] of refusals)
    test(name, async (t) => assert.match(await run(t, tasks, service(role).teams, args), words));

  test('TE-6 a list has the order that was asked for, the newest first unless one was', async (t) => {
    const { teams, did } = service('lead');
    for (const order of [undefined, 'newest', 'priority'])
      await run(t, tasks, teams, { action: 'list', ...(order && { order }) });
    assert.deepEqual(
      did.map((filter) => (filter as { order: string }).order),
      ['newest', 'newest', 'priority'],
    );
  });

  test('the board is looked at before something is added to it', async (t) => {
    const blind = service('lead', { looked: false });
    assert.match(
      await run(t, tasks, blind.teams, { action: 'create', subject: 'x' }),
      /You must check existing tasks first/,
    );
    assert.deepEqual(blind.did, []);
  });

  test('a task of several things is made, with a warning', async (t) => {
    const { teams, did } = service('lead');
    const text = await run(t, tasks, teams, {
      action: 'create',
      subject: 'Do X and Y and Z',
      assignee: 'm1',
    });
    assert.match(text, /task_crew\.7 created[^]*Warning/);
    assert.equal(did.length, 1);
    for (const subject of ['Plot X and Y', 'Brandy and candy', 'Write the report']) {
      const one = await run(t, tasks, teams, { action: 'create', subject, assignee: 'm1' });
      assert.doesNotMatch(one, /Warning/, subject);
    }
  });
});

describe('TE-5 team_message', () => {
  const cases: readonly (readonly [Membership['role'], Record<string, unknown>, RegExp])[] = [
    ['lead', { action: 'send', text: 'x' }, /to parameter is required for send action/],
    ['lead', { action: 'send', to: 'm1' }, /text parameter is required for send action/],
    ['lead', { action: 'send', to: 'x', text: 'x' }, /agent "x" is not a member of your team/],
    ['lead', { action: 'send', to: 'm1', text: 'x' }, /^Message sent to m1\.$/],
    ['member', { action: 'broadcast', text: 'x' }, /only the team lead can perform this action/],
    ['lead', { action: 'broadcast', text: 'x' }, /^Broadcast sent to all teammates\.$/],
    ['lead', { action: 'read' }, /"text":"Hello\."[^]*"count":1,"unread":3,"has_more":true/],
    ['lead', { action: 'x' }, /unknown action: x \(use send, broadcast, or read\)/],
  ];
  for (const [role, args, words] of cases)
    test(`${role}: ${JSON.stringify(args)}`, async (t) =>
      assert.match(await run(t, message, service(role).teams, args), words));

  test('a member’s broadcast goes to all others, the lead among them, where the team lets members', async (t) => {
    const { teams, did } = service('member', {
      team: { lead: 'boss', members: ['main', 'm2'], settings: { member_broadcast: true } },
    });
    const text = await run(t, message, teams, { action: 'broadcast', text: 'Hello.' });
    assert.equal(text, 'Broadcast sent to all teammates.');
    assert.deepEqual(did, [[['boss', 'm2'], 'Hello.']]);
  });

  test('a broadcast goes to all but its sender', async (t) => {
    const { teams, did } = service('lead');
    await run(t, message, teams, { action: 'broadcast', text: 'Hello.' });
    assert.deepEqual(did, [[['m1', 'm2'], 'Hello.']]);
  });
});
