/** The cases of test/vectors/team-tasks.json, step by step through the rules by which the workflow decides. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TEAM } from './small-team.ts';
import { decideTask } from '#domain/team/decide-task.ts';
import type { TaskDecision, Moment } from '#domain/team/decision.ts';
import {
  dependencyEnded,
  dispatch,
  nextAlarm,
  releaseAndDispatch,
  ring,
  turnEnded,
} from '#domain/team/task-events.ts';
import { teamAccessProblem } from '#domain/team/may-use-team.ts';
import type { CommentType, TaskAction, TaskState } from '#domain/team/team-task.ts';
import { TEAM_LIMITS } from '#domain/team/team.ts';

interface Step {
  readonly by?: string;
  readonly do?: TaskAction;
  readonly system?: 'expire' | 'dispatch' | 'completed' | 'cancelled';
  readonly number?: number;
  readonly text?: string;
  readonly type?: CommentType;
  readonly percent?: number;
  readonly assignee?: string;
  readonly blocked_by?: readonly number[];
  /** It does not show the lease that it had. */
  readonly anew?: boolean;
}

interface Case {
  readonly name: string;
  readonly task?: Partial<TaskState>;
  readonly steps: readonly Step[];
  readonly end: Partial<TaskState>;
  readonly last?: {
    readonly refused?: string;
    readonly holder?: string;
    readonly same?: string;
    readonly reason?: string;
    readonly notices?: readonly string[];
  };
}

interface Access {
  readonly settings: unknown;
  readonly user?: string;
  readonly channel?: string;
  readonly problem?: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../vectors/team-tasks.json', import.meta.url), 'utf8'),
) as { readonly cases: readonly Case[]; readonly access: readonly Access[] };

function newTask(fields: Partial<TaskState> = {}): TaskState {
  return {
    number: 1,
    subject: 'A',
    status: 'pending',
    assignee: null,
    owner: null,
    lease: null,
    open_blockers: [],
    percent: 0,
    priority: 0,
    released: true,
    worked: false,
    dispatches: 0,
    expiries: 0,
    fence: 0,
    question: null,
    note: null,
    revision: 1,
    ...fields,
  };
}

/** Walks the steps as the workflow does; each member keeps the token of the last lease that it got. */
function createBoard(first: TaskState) {
  let task = first;
  let now = 1_000_000;
  let leases = 0;
  const tokens = new Map<string, string>();

  function moment(): Moment {
    return { task, team: TEAM, now, token: `token-${leases + 1}` };
  }

  function act(step: Step): TaskDecision {
    const token = step.anew ? undefined : tokens.get(step.by ?? '');
    return decideTask(moment(), step.do ?? 'comment', {
      by: { name: `agent:${step.by}`, ...(step.by ? { member: step.by } : {}), ...(token ? { token } : {}) },
      ...(step.text === undefined ? {} : { text: { text: step.text } }),
      ...(step.type ? { type: step.type } : {}),
      ...(step.percent === undefined ? {} : { percent: step.percent }),
      ...(step.assignee ? { assignee: step.assignee } : {}),
      ...(step.blocked_by ? { blocked_by: step.blocked_by } : {}),
    });
  }

  function system(step: Step): TaskDecision {
    if (step.system === 'dispatch') return dispatch(moment(), 'team');
    if (step.system === 'expire') {
      now = nextAlarm(moment()) ?? now;
      return ring(moment());
    }
    return dependencyEnded(task, step.number ?? 0, step.system === 'completed');
  }

  return {
    task: () => task,
    moment,
    step(step: Step): TaskDecision {
      const before = task;
      const decision = step.system ? system(step) : act(step);
      if (decision.kind === 'changed') {
        task = decision.change.task;
        assert.equal(task.revision, before.revision + 1);
        if (task.lease && task.lease !== before.lease && task.fence !== before.fence) {
          leases += 1;
          tokens.set(task.lease.member, task.lease.token);
        }
      }
      return decision;
    },
  };
}

describe('TE-2 … TE-4: the rules of a team’s task', () => {
  for (const one of vectors.cases)
    it(one.name, () => {
      const board = createBoard(newTask(one.task));
      let last: TaskDecision | undefined;
      for (const step of one.steps) last = board.step(step);
      const task = board.task();
      for (const [name, value] of Object.entries(one.end))
        assert.deepEqual(task[name as keyof TaskState], value, name);
      if (last) checkLast(last, one.last ?? {});
    });

  it('a blocker’s reason is cut to 500 characters', () => {
    const board = createBoard(newTask());
    board.step({ by: 'm1', do: 'claim' });
    const last = board.step({ by: 'm1', do: 'comment', type: 'blocker', text: '€'.repeat(501) });
    assert.equal(last.kind === 'changed' && last.change.reason?.length, TEAM_LIMITS.reason);
  });

  it('each lease has a fence above all before it, also after it was given back', () => {
    const board = createBoard(newTask());
    const fences: number[] = [];
    for (const member of ['m1', 'm2', 'm1']) {
      board.step({ by: member, do: 'claim' });
      fences.push(board.task().fence);
      board.step({ by: member, do: 'release' });
    }
    assert.deepEqual(fences, [1, 2, 3]);
  });

  it('a member’s answer is the result of a task that it did not complete itself', () => {
    const board = createBoard(newTask({ assignee: 'm1' }));
    board.step({ system: 'dispatch' });
    const end = turnEnded(board.moment(), { fence: 1, status: 'completed', reason: '', result_of: 'turn_1' });
    assert.ok(end.kind === 'changed');
    assert.equal(end.change.task.status, 'completed');
    assert.deepEqual([end.change.result_of, end.change.text], ['turn_1', undefined]);
  });

  it('the end of the turn that made it gives it to its member in one change, should it be due', () => {
    const revisionOf = (task: Partial<TaskState>) => {
      const moment = createBoard(newTask({ released: false, ...task })).moment();
      const decision = releaseAndDispatch(moment, 'crew');
      assert.ok(decision.kind === 'changed');
      const { action, task: next } = decision.change;
      assert.equal(next.released, true);
      return [action, next.status, next.lease?.member, next.revision - moment.task.revision];
    };
    assert.deepEqual(revisionOf({ assignee: 'm1' }), ['dispatch', 'in_progress', 'm1', 1]);
    assert.deepEqual(revisionOf({ assignee: null }), ['released', 'pending', undefined, 1]);
    const blocked = { assignee: 'm1', status: 'blocked', open_blockers: [1] } as const;
    assert.deepEqual(revisionOf(blocked), ['released', 'blocked', undefined, 1]);
    const released = createBoard(newTask({ assignee: 'm1' })).moment();
    assert.equal(releaseAndDispatch(released, 'crew').kind, 'same');
  });

  it('the end of a turn whose lease is over changes nothing', () => {
    const board = createBoard(newTask({ assignee: 'm1' }));
    board.step({ system: 'dispatch' });
    board.step({ by: 'lead', do: 'assign', assignee: 'm2' });
    assert.equal(turnEnded(board.moment(), { fence: 1, status: 'completed', reason: '' }).kind, 'same');
  });

  it('no lease runs out while a question waits; its reminders come and end', () => {
    const board = createBoard(newTask());
    board.step({ by: 'm1', do: 'claim' });
    board.step({ by: 'm1', do: 'ask_user', text: 'which colour?' });
    for (let count = 1; count <= TEAM.reminders; count += 1) {
      const reminded = board.step({ system: 'expire' });
      assert.ok(reminded.kind === 'changed' && reminded.notices.includes('question'));
      assert.equal(board.task().question?.reminders, count);
    }
    assert.equal(nextAlarm(board.moment()), undefined);
    assert.equal(board.task().status, 'in_progress');
  });

  it('the lead knows how delegated work ends its task, which it may do only while it has it', () => {
    const open = createBoard(newTask()).task();
    const by = { name: 'agent:m1', member: 'm1', session: 'delegate:del-1', work: 'del-1' };
    const decide = (action: TaskAction, more = {}, task = open) =>
      decideTask({ task, team: { ...TEAM, notifies_each: true }, now: 0, token: 't' }, action, {
        by: { ...by, ...more },
        text: { id: 'text_1' },
        ...(action === 'comment' && { type: 'blocker' }),
      });
    const claimed = decide('claim');
    assert.ok(claimed.kind === 'changed');
    const held = claimed.change.task;
    assert.equal(held.lease?.work, 'del-1');
    for (const [action, status] of [
      ['complete', 'completed'],
      ['comment', 'failed'],
      ['cancel', 'cancelled'],
      ['release', 'pending'],
    ] as const) {
      const ended = decide(action, { fence: held.fence }, held);
      assert.ok(ended.kind === 'changed', action);
      assert.deepEqual([ended.change.task.status, ended.change.is_known], [status, true]);
      // Another one has it meanwhile.
      const late = decide(action, { fence: held.fence - 1 }, held);
      assert.equal(late.kind, 'refused', action);
    }
  });
});

describe('who may bring work to a team', () => {
  for (const { settings, user, channel, problem } of vectors.access)
    it(`${JSON.stringify(settings)} for ${user ?? 'nobody'} by ${channel ?? 'no channel'}: ${problem ?? 'ok'}`, () => {
      const who = { ...(user ? { user } : {}), ...(channel ? { channel } : {}) };
      assert.equal(teamAccessProblem(settings, who), problem);
    });
});

function checkLast(last: TaskDecision, expected: NonNullable<Case['last']>): void {
  if (expected.refused !== undefined) {
    assert.ok(last.kind === 'refused', `not refused: ${JSON.stringify(last)}`);
    assert.ok(last.message.includes(expected.refused), last.message);
    if (expected.holder) assert.equal(last.details?.['holder'], expected.holder);
  } else if (expected.same === undefined) {
    assert.ok(last.kind === 'changed', JSON.stringify(last));
    if (expected.reason) assert.equal(last.change.reason, expected.reason);
    if (expected.notices) assert.deepEqual(last.notices, expected.notices);
  } else {
    assert.ok(last.kind === 'same', JSON.stringify(last));
    assert.ok(last.note.includes(expected.same), last.note);
  }
}
