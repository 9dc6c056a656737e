/** DE-6: the rules that decide what becomes of submitted work for a task. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TEAM } from './small-team.ts';
import { decideTask } from '#domain/team/decide-task.ts';
import type { TaskDecision, Moment } from '#domain/team/decision.ts';
import { judgeHandIn, judged, mayBeGated } from '#domain/team/judge-task.ts';
import { nextAlarm } from '#domain/team/task-events.ts';
import type { Judgement, TaskGates } from '#domain/team/task-judging.ts';
import type { TaskAction, TaskRequest, TaskState } from '#domain/team/team-task.ts';

const HELD: TaskState = {
  number: 7,
  subject: 'A page',
  status: 'in_progress',
  assignee: null,
  owner: 'm1',
  lease: { member: 'm1', token: 't', fence: 3, until: 5_000, session: null },
  open_blockers: [],
  percent: 0,
  priority: 0,
  released: true,
  worked: true,
  dispatches: 1,
  expiries: 0,
  fence: 3,
  question: null,
  note: null,
  revision: 4,
};

const GATES: TaskGates = {
  agent_revision: 1,
  gates: [0, 1].map((index) => ({
    index,
    name: `gate ${index}`,
    type: 'command' as const,
    max_retries: 2,
    block_on_failure: true,
    timeout_seconds: 60,
  })),
};

const BY_HOLDER = { name: 'user:ann', member: 'm1', token: 't' };

const moment = (task: TaskState): Moment => ({ task, team: TEAM, now: 1_000, token: 'new' });

function taken(decision: TaskDecision): TaskState {
  assert.equal(decision.kind, 'changed', JSON.stringify(decision));
  return decision.kind === 'changed' ? decision.change.task : HELD;
}

function asked(task: TaskState, action: TaskAction, request: TaskRequest): TaskDecision {
  const decision = decideTask(moment(task), action, request);
  if (decision.kind !== 'changed' || !mayBeGated(moment(task), decision.change)) return decision;
  return judgeHandIn(moment(task), decision.change, GATES, 'crew');
}

/** Work that is delegated and is this task. */
const DELEGATED: TaskState = {
  ...HELD,
  lease: { member: 'm1', token: 't', fence: 3, until: 5_000, session: 'delegate:del-1', work: 'del-1' },
};
const BY_WORK = { name: 'agent:m1', member: 'm1', session: 'delegate:del-1', work: 'del-1', fence: 3 };

const handedIn = (task = HELD, by: TaskRequest['by'] = BY_HOLDER): TaskState =>
  taken(asked(task, 'complete', { by, text: { id: 'text_1' } }));

const input = (task: TaskState, failed?: Judgement['failed']): TaskState =>
  taken(judged(moment(task), { of: task.judging?.of ?? '', ...(failed ? { failed } : {}) }));

const RETRY = { step: 'retry', gate: 1, name: 'gate 1', retries: 0, max_retries: 2, preview: 'no' } as const;

describe('DE-6 judging of tasks', () => {
  it('what gates give back when the delegated work has ended, the member gets again', () => {
    const waits = handedIn(DELEGATED, BY_WORK);
    assert.deepEqual([waits.status, waits.lease], ['in_progress', null]);
    const failed = {
      step: 'retry',
      gate: 0,
      name: 'g',
      retries: 0,
      max_retries: 2,
      preview: 'more',
    } as const;
    const again = taken(judged(moment(waits), { of: waits.judging?.of ?? '', failed }));
    assert.deepEqual([again.status, again.assignee, again.owner], ['pending', 'm1', null]);
  });

  it('no clock runs while it is judged, and a lease that goes on begins anew when it is given back', () => {
    const task = handedIn();
    assert.deepEqual(
      [task.status, task.percent, nextAlarm({ task, team: TEAM })],
      ['in_progress', 0, undefined],
    );
    const back = input(task, RETRY);
    assert.deepEqual(
      [back.status, back.judging, nextAlarm({ task: back, team: TEAM })],
      ['in_progress', null, 61_000],
    );
  });

  it('goes on at the gate that gave it back, for the same member only', () => {
    const back = input(handedIn(), RETRY);
    assert.deepEqual(handedIn(back).judging?.from, { gate: 1, retries: 1 });
    const released = taken(asked(back, 'release', { by: BY_HOLDER }));
    const other = taken(asked(released, 'claim', { by: { name: 'user:bob', member: 'm2' } }));
    const by = { name: 'user:bob', member: 'm2', token: 'new' };
    assert.deepEqual(handedIn(other, by).judging?.from, { gate: 0, retries: 0 });
  });

  it('what is handed in again is judged as something else', () => {
    const first = handedIn();
    const second = handedIn(input(first, RETRY));
    assert.notEqual(first.judging?.of, second.judging?.of);
    assert.equal(judged(moment(second), { of: first.judging?.of ?? '' }).kind, 'same');
  });

  it('a turn that hands in loses its lease and may end; one whose task the lead hands in is not awaited', () => {
    const turn = { ...HELD, lease: { member: 'm1', token: 't', fence: 3, until: null, session: 's' } };
    const own = taken(
      asked(turn, 'review', { by: { name: 'agent:m1', member: 'm1', session: 's', fence: 3 } }),
    );
    assert.deepEqual([own.lease, own.judging?.fence, own.judging?.action], [null, 3, 'review']);
    const leads = handedIn(turn, { name: 'agent:lead', member: 'lead' });
    assert.deepEqual([leads.lease, leads.judging?.fence], [null, null]);
    const back = input(leads, RETRY);
    assert.deepEqual([back.status, back.assignee, back.owner, back.dispatches], ['pending', 'm1', null, 0]);
  });

  it('who takes the task from its holder takes it from its gates', () => {
    for (const [action, request] of [
      ['release', { by: BY_HOLDER }],
      ['assign', { by: { name: 'user:ann' }, assignee: 'm2' }],
      ['cancel', { by: { name: 'user:ann' } }],
      ['comment', { by: BY_HOLDER, type: 'blocker', text: { text: 'The door is shut.' } }],
    ] as const)
      assert.equal(taken(asked(handedIn(), action, request)).judging, null, action);
    assert.ok(taken(asked(handedIn(), 'comment', { by: BY_HOLDER, text: { text: 'Soon.' } })).judging);
    assert.equal(asked(handedIn(), 'ask_user', { by: BY_HOLDER, text: { text: 'Red?' } }).kind, 'refused');
    assert.equal(asked(handedIn(), 'complete', { by: BY_HOLDER }).kind, 'same');
  });

  it('the lead completes what has passed for a review as it is, and has another result judged', () => {
    const review = input({ ...handedIn(), judging: { ...handedIn().judging!, action: 'review' } });
    assert.equal(review.status, 'in_review');
    const by = { name: 'user:ann' };
    assert.equal(taken(asked(review, 'complete', { by })).status, 'completed');
    assert.ok(taken(asked(review, 'complete', { by, text: { id: 'text_2' } })).judging);
  });
});
