/** AP-4 in the approval's workflow: escalation, reminders, and what a message of Temporal can prove. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApprovalState, ApprovalVerb, DecideInput } from '#domain/approval/approval.ts';
import { Failure } from '#domain/errors.ts';
import { tokenOf } from '#test/support/decision-tokens.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

describe('AP-4 an approval on terms', () => {
  let live: LiveWorker;
  before(async () => {
    const asking = (terms: object) => ({ ask: [{ tool: 'poke', ...terms }] });
    const escalate = { after_seconds: 1, to: { users: ['boss'] } };
    live = await startLiveWorker({
      env: { TEMPOCLAW_DECISION_TOKEN_SECRET: SECRET },
      agents: [
        { key: 'two', tools: asking({ quorum: 2 }) },
        { key: 'rises', tools: asking({ approvers: { users: ['ann'] }, escalate }) },
        {
          key: 'rises-late',
          tools: asking({
            approvers: { users: ['ann'] },
            escalate: { ...escalate, after_seconds: 100 },
            expires_seconds: 600,
          }),
        },
        { key: 'over', tools: asking({ approvers: { users: ['ann'] }, escalate, expires_seconds: 2 }) },
        { key: 'reminds', tools: asking({ remind_seconds: 5, expires_seconds: 12 }) },
      ],
    });
  });
  after(() => live.close());

  async function asked(session: string, agent: string) {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`, { agent });
    const id = await live.approvalOf(session);
    return { turn_id, id, handle: live.client.workflow.getHandle(`approval/${id}`) };
  }
  const effectsOf = (note: string): number =>
    live.probes.effects.filter((effect) => effect.note === note).length;
  const token = (id: string, decision: ApprovalVerb, by: string | null = null): Promise<string> =>
    tokenOf(live, SECRET, id, decision, by);
  const as = async (
    by: string,
    id: string,
    decision: DecideInput['decision'] = 'approve',
  ): Promise<DecideInput> => ({ decision, by, token: await token(id, decision, by) });
  const forbidden = (error: unknown): boolean => error instanceof Failure && error.type === 'Forbidden';
  const typesOf = async (session: string): Promise<string[]> =>
    (await live.events(session)).map((event) => event.type).filter((type) => type.startsWith('approval.'));

  it('a quorum counts a user by his token, and no mere claim, by update and by signal', async () => {
    const { turn_id, id, handle } = await asked('tokens', 'two');
    for (const bad of [
      { decision: 'approve', by: 'ann' },
      { ...(await as('ann', id)), by: 'bea' },
      { ...(await as('ann', id)), token: await token(id, 'approve') },
      { ...(await as('ann', id)), decision: 'reject' },
      { decision: 'reject', by: 'ann' },
    ] as const)
      await assert.rejects(live.temporal.decide(id, bad), forbidden, JSON.stringify(bad));
    const first = await live.temporal.decide(id, await as('ann', id));
    assert.deepEqual([first?.status, first?.tally], ['pending', '1 of 2']);
    assert.equal((await live.temporal.decide(id, await as('Ann', id)))?.already, true);
    const state = await handle.query<ApprovalState>('state');
    assert.deepEqual([state.status, state.approvals, state.quorum, state.refused], ['pending', 1, 2, 5]);
    await handle.signal('decide', { decision: 'approve', by: 'bea' });
    assert.equal(effectsOf('tokens'), 0);
    await handle.signal('decide', await as('bea', id));
    await live.ended(turn_id);
    assert.equal(effectsOf('tokens'), 1);
    assert.equal((await handle.query<ApprovalState>('state')).decided_by, 'ann, bea');
  });

  it('a token that stands in the history decides nothing, and a vote carries no other command', async () => {
    const { turn_id, id, handle } = await asked('stolen', 'two');
    const stale = await as('ann', id);
    await assert.rejects(
      live.temporal.decide(id, { ...stale, decision: 'reject', digest: 'f'.repeat(64) }),
      forbidden,
    );
    await assert.rejects(live.temporal.decide(id, stale), forbidden);
    const vote = await as('ann', id);
    assert.equal((await live.temporal.decide(id, vote))?.tally, '1 of 2');
    const edit = { ...vote, decision: 'edit', args: { note: 'another' } } as const;
    await assert.rejects(live.temporal.decide(id, edit), forbidden);
    await handle.signal('decide', { ...(await as('bea', id)), decision: 'perhaps' });
    const state = await live.until('the refusal', async () => {
      const now = await handle.query<ApprovalState>('state');
      return now.refused === 4 ? now : undefined;
    });
    assert.match(state.last_refused?.problem ?? '', /decision must be one of/);
    const bea = await as('bea', id);
    await live.temporal.decide(id, { ...(await as('cyd', id, 'edit')), args: { note: 'edited' } });
    await assert.rejects(
      live.temporal.decide(id, bea),
      (error: unknown) => error instanceof Failure && error.type === 'Conflict',
    );
    await live.temporal.decide(id, await as('bea', id));
    await live.ended(turn_id);
    assert.deepEqual([effectsOf('stolen'), effectsOf('another'), effectsOf('edited')], [0, 0, 1]);
  });

  it('IN-13 a signal that is refused stands in state, row and feed, and who may not decide may neither withdraw nor escalate', async () => {
    const { turn_id, id, handle } = await asked('words', 'rises-late');
    await handle.signal('withdraw');
    await handle.signal('escalate', { by: 'eve' });
    await handle.signal('decide', { decision: 'approve', by: 'eve' });
    const state = await live.until('the refusals', async () => {
      const now = await handle.query<ApprovalState>('state');
      return now.refused === 3 ? now : undefined;
    });
    assert.deepEqual([state.status, state.escalated, state.last_refused?.by], ['pending', undefined, 'eve']);
    assert.match(state.last_refused?.problem ?? '', /bound to certain people/);
    const { rows } = await live.pool.query<{ refused: number; last_refused: { what: string } }>(
      'select refused, last_refused from approvals where tenant_id = $1 and id = $2',
      [live.tenant, id],
    );
    assert.deepEqual([rows[0]?.refused, rows[0]?.last_refused.what], [3, 'approve']);
    const refused = (await live.events('words')).filter((event) => event.type === 'approval.refused');
    assert.deepEqual(
      refused.map(({ data }) => [data['what'], data['by'], data['count']]),
      [
        ['withdraw', 'unnamed', 1],
        ['escalate', 'eve', 2],
        ['approve', 'eve', 3],
      ],
    );
    await live.temporal.decide(id, await as('ann', id, 'reject'));
    await live.ended(turn_id);
  });

  it('more messages than Temporal takes of one run keep nobody from deciding', async () => {
    const { turn_id, id, handle } = await asked('flood', 'two');
    const first = (await handle.describe()).runId;
    await live.temporal.decide(id, await as('ann', id));
    for (let sent = 0; sent < 520; sent += 20)
      await Promise.all(
        Array.from({ length: 20 }, () => handle.signal('decide', { decision: 'approve', by: 'eve' })),
      );
    await live.until('the next run', async () => (await handle.describe()).runId !== first);
    const state = await live.until('the state', async () => {
      const now = await handle.query<ApprovalState>('state');
      return now.refused >= 500 ? now : undefined;
    });
    assert.deepEqual([state.status, state.approvals, state.quorum], ['pending', 1, 2]);
    assert.equal((await live.temporal.decide(id, await as('bea', id)))?.status, 'approved');
    await live.ended(turn_id);
    assert.equal(effectsOf('flood'), 1);
  });

  it('a key of one request proves nothing for another: what the API wrote counts for its own update only', async () => {
    const { turn_id, id, handle } = await asked('proofs', 'two');
    await live.pool.query(
      `insert into decision_proofs (tenant_id, approval_id, key, by, user_id, scopes, via)
       values ($1, 'apr_other', 'k1', 'ann', 'ann', '{approve}', 'api')`,
      [live.tenant],
    );
    await assert.rejects(live.temporal.decide(id, { decision: 'approve', by: 'ann' }, 'k1'), forbidden);
    await handle.signal('withdraw', { token: await token(id, 'withdraw', 'ann') });
    await live.ended(turn_id);
  });

  it('escalates after its time: others may decide from then on, and the feed and the web UI say so', async () => {
    const { turn_id, id, handle } = await asked('rises', 'rises');
    await live.until('the escalation', async () => {
      const state = await handle.query<ApprovalState>('state');
      return state.escalated;
    });
    const escalated = (await live.events('rises')).find((event) => event.type === 'approval.escalated');
    assert.deepEqual(escalated?.data['to'], { users: ['boss'] });
    const { searchAttributes } = await handle.describe();
    assert.deepEqual(searchAttributes['TempoclawState'], ['escalated']);
    assert.equal((await live.temporal.decide(id, await as('boss', id)))?.status, 'approved');
    await live.ended(turn_id);
    assert.equal(effectsOf('rises'), 1);
  });

  it('escalates at once by signal, and once', async () => {
    const { turn_id, id, handle } = await asked('at-once', 'rises-late');
    await assert.rejects(live.temporal.decide(id, await as('boss', id)), forbidden);
    for (const by of ['ann', 'ann'])
      await handle.signal('escalate', { token: await token(id, 'escalate', by) });
    await live.until('the escalation', async () => (await handle.query<ApprovalState>('state')).escalated);
    assert.equal((await live.temporal.decide(id, await as('boss', id, 'reject')))?.status, 'denied');
    await live.ended(turn_id);
    assert.deepEqual(await typesOf('at-once'), [
      'approval.requested',
      'approval.refused',
      'approval.escalated',
      'approval.decided',
    ]);
  });

  it('a signal escalates nothing where the rule names nobody to escalate to', async () => {
    const { turn_id, id, handle } = await asked('nobody', 'two');
    await handle.signal('escalate', { token: await token(id, 'escalate', 'ann') });
    await live.temporal.decide(id, await as('ann', id));
    assert.equal((await handle.query<ApprovalState>('state')).escalated, undefined);
    await live.temporal.decide(id, await as('ann', id, 'reject'));
    await live.ended(turn_id);
    assert.ok(!(await typesOf('nobody')).includes('approval.escalated'));
  });

  it('denies when nobody decides, escalated or not', async () => {
    const { turn_id, id } = await asked('over', 'over');
    await live.ended(turn_id);
    assert.equal((await live.calls(turn_id))[0]?.code, 'ApprovalExpired');
    assert.equal(effectsOf('over'), 0);
    const outcome = (await live.client.workflow.getHandle(`approval/${id}`).result()) as { status: string };
    assert.equal(outcome.status, 'expired');
    assert.ok((await typesOf('over')).includes('approval.escalated'));
  });

  it('reminds while it waits', async () => {
    const { turn_id } = await asked('reminds', 'reminds');
    await live.ended(turn_id);
    const reminders = (await live.events('reminds')).filter((event) => event.type === 'approval.reminded');
    assert.deepEqual(
      reminders.map((event) => event.data['count']),
      [1, 2],
    );
  });
});
