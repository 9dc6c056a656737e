/** AP-4 over HTTP: a quorum counts people by their keys, for exactly one call, and only those whom the rule names. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { settleWithin } from '#store/approvals/approval-record.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { insertDecisionProof } from '#store/approvals/approval-store.ts';
import type { Scope } from '#domain/schema/api-key.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { eventually } from '#test/support/processes.ts';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';

describe('AP-4 a quorum of two', () => {
  let stack: Stack;
  const keys = new Map<string, string>();
  before(async () => {
    const asking = (terms: object) => ({ ask: [{ tool: 'poke', ...terms }] });
    stack = await startStack({
      agents: [
        { key: 'two', tools: asking({ quorum: 2 }) },
        { key: 'three', tools: asking({ quorum: 3 }) },
        { key: 'others', tools: asking({ exclude_requester: true }) },
        { key: 'named', tools: asking({ quorum: 2, approvers: { users: ['ann', 'bea'] } }) },
        { key: 'admins', tools: asking({ approvers: { scopes: ['admin'] } }) },
        {
          key: 'stricter',
          tools: {
            ask: [
              { tool: 'poke', args: { note: 'prod*' }, quorum: 2 },
              { tool: 'poke', reason: 'always' },
            ],
          },
        },
      ],
    });
    for (const user of ['ann', 'bea', 'cyd', ' ANN', 'requester'])
      keys.set(user, await stack.makeKey(['read', 'run', 'approve'], { user }));
  });
  after(() => stack.stop());

  async function askFor(note: string, agent: string, user?: string): Promise<{ turn: string; id: string }> {
    const { body } = await stack.ask('POST', `/v1/sessions/${note}/messages`, {
      body: { text: `poke {"note":"${note}"}`, agent, ...(user === undefined ? {} : { user }) },
    });
    return { turn: body.turn_id, id: await stack.worker.approvalOf(note) };
  }
  const keyOf = (user: string): string => keys.get(user) ?? assert.fail(`no key of ${user}`);
  const decide = (id: string, user: string | null, body: object): Promise<Answer> =>
    stack.ask('POST', `/v1/approvals/${id}/decision`, {
      body,
      ...(user === null ? {} : { key: keyOf(user) }),
    });
  const show = async (id: string) => (await stack.ask('GET', `/v1/approvals/${id}`)).body;
  const pokes = (note: string) => stack.worker.probes.effects.filter((effect) => effect.note === note).length;

  it('runs nothing at the first, says 1 of 2, and runs once at the second of another person', async () => {
    const { turn, id } = await askFor('two-1', 'two');
    const first = await decide(id, 'ann', { decision: 'approve' });
    assert.equal(first.status, 200);
    assert.deepEqual([first.body.status, first.body.tally, first.body.approvals], ['pending', '1 of 2', 1]);
    assert.equal(pokes('two-1'), 0);
    const shown = await show(id);
    assert.deepEqual([shown.status, shown.tally, shown.approved_by], ['pending', '1 of 2', ['ann']]);
    const second = await decide(id, 'bea', { decision: 'approve' });
    assert.deepEqual([second.body.status, second.body.decided_by], ['approved', 'ann, bea']);
    await stack.worker.ended(turn);
    assert.equal(pokes('two-1'), 1);
    const kept = (await show(id)).decisions as {
      by: string;
      via: string;
      proven: boolean;
      counts: boolean;
    }[];
    assert.deepEqual(
      kept.map(({ by, via, proven, counts }) => [by, via, proven, counts]),
      [
        ['ann', 'api', true, true],
        ['bea', 'api', true, true],
      ],
    );
    const types = (await stack.worker.events('two-1')).map((event) => event.type);
    assert.equal(types.filter((type) => type === 'approval.voted').length, 2);
    assert.equal(types.filter((type) => type === 'approval.decided').length, 1);
  });

  it('counts a person once, however often and under whatever spelling of his name', async () => {
    const { id } = await askFor('two-2', 'two');
    await decide(id, 'ann', { decision: 'approve' });
    for (const again of ['ann', ' ANN', 'ann']) {
      const receipt = await decide(id, again, { decision: 'approve' });
      assert.deepEqual(
        [receipt.body.status, receipt.body.tally, receipt.body.already],
        ['pending', '1 of 2', true],
      );
    }
    assert.equal(pokes('two-2'), 0);
    assert.equal((await decide(id, 'bea', { decision: 'reject', reason: 'no' })).body.status, 'denied');
  });

  it('is denied by one who rejects, also by one who had agreed', async () => {
    const { turn, id } = await askFor('two-3', 'two');
    await decide(id, 'ann', { decision: 'approve' });
    const denied = await decide(id, 'ann', { decision: 'reject', reason: 'on second thought' });
    assert.deepEqual([denied.body.status, denied.body.decided_by], ['denied', 'ann']);
    await stack.worker.ended(turn);
    assert.equal(pokes('two-3'), 0);
    assert.equal((await decide(id, 'bea', { decision: 'approve' })).status, 409);
  });

  it('who waits for the turn is answered as soon as it waits for a decision', {
    timeout: 60_000,
  }, async () => {
    const answer = await stack.ask('POST', '/v1/sessions/two-waits/messages?wait=300', {
      body: { text: 'poke {"note":"two-waits"}', agent: 'two' },
    });
    assert.deepEqual([answer.status, answer.body.status], [202, 'waiting_approval']);
    await decide(await stack.worker.approvalOf('two-waits'), 'ann', { decision: 'reject' });
    await stack.worker.ended(answer.body.turn_id);
  });

  it('refuses who may not decide, and another digest, before Temporal: nobody fills the approval up', async () => {
    const { turn, id } = await askFor('two-kept', 'two');
    for (let tries = 0; tries < 5; tries += 1) {
      const stale = await decide(id, 'ann', { decision: 'approve', digest: 'f'.repeat(64) });
      assert.deepEqual([stale.status, stale.body.code], [409, 'Conflict']);
    }
    const nobody = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    assert.equal(nobody.status, 403);
    const { events = [] } = await stack.worker.client.workflow.getHandle(`approval/${id}`).fetchHistory();
    assert.equal(events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length, 0);
    await decide(id, 'ann', { decision: 'reject' });
    await stack.worker.ended(turn);
  });

  it('begins again with an edit: earlier agreement was to other arguments', async () => {
    const { turn, id } = await askFor('two-4', 'three');
    const before = await show(id);
    await decide(id, 'ann', { decision: 'approve' });
    const edited = await decide(id, 'bea', { decision: 'edit', args: { note: 'two-4-edited' } });
    assert.deepEqual([edited.body.status, edited.body.tally], ['pending', '1 of 3']);
    const shown = await show(id);
    assert.deepEqual([shown.args, shown.summary], [{ note: 'two-4-edited' }, 'poke: two-4-edited']);
    assert.notEqual(shown.digest, before.digest);
    assert.deepEqual(
      shown.decisions.map((one: { by: string; counts: boolean }) => [one.by, one.counts]),
      [
        ['ann', false],
        ['bea', true],
      ],
    );
    const stale = await decide(id, 'cyd', { decision: 'approve', digest: before.digest });
    assert.deepEqual([stale.status, stale.body.code], [409, 'Conflict']);
    assert.equal((await decide(id, 'ann', { decision: 'approve' })).body.tally, '2 of 3');
    await decide(id, 'cyd', { decision: 'approve', digest: shown.digest });
    await stack.worker.ended(turn);
    assert.deepEqual([pokes('two-4'), pokes('two-4-edited')], [0, 1]);
  });

  it('refuses an edit that the schema refuses, and keeps what was agreed', async () => {
    const { id } = await askFor('two-5', 'two');
    await decide(id, 'ann', { decision: 'approve' });
    assert.equal((await decide(id, 'bea', { decision: 'edit', args: { note: [] } })).status, 422);
    assert.equal((await show(id)).tally, '1 of 2');
    await decide(id, 'bea', { decision: 'reject' });
  });

  it('refuses keys that speak for nobody, and a standing permission', async () => {
    const { id } = await askFor('two-6', 'two');
    const nobody = await decide(id, null, { decision: 'approve' });
    assert.equal(nobody.status, 403);
    assert.match(nobody.body.detail, /speaks for a user/);
    const always = await decide(id, 'ann', { decision: 'approve_always' });
    assert.equal(always.status, 422);
    await decide(id, 'ann', { decision: 'reject' });
  });

  it('excludes the requester under every spelling, though he may look', async () => {
    const { turn, id } = await askFor('others-1', 'others', 'requester');
    keys.set('Requester ', await stack.makeKey(['read', 'approve'], { user: 'Requester ' }));
    assert.equal((await stack.ask('GET', `/v1/approvals/${id}`, { key: keyOf('requester') })).status, 200);
    for (const user of ['requester', 'Requester ']) {
      const refused = await decide(id, user, { decision: 'approve' });
      assert.equal(refused.status, 403, user);
      assert.match(refused.body.detail, /may not decide/);
    }
    assert.equal((await decide(id, 'ann', { decision: 'approve' })).body.status, 'approved');
    await stack.worker.ended(turn);
    assert.equal(pokes('others-1'), 1);
  });

  it('lets only those whom the rule names: others are refused, whom it does not concern does not find it', async () => {
    const { turn, id } = await askFor('named-1', 'named', 'cyd');
    const own = await decide(id, 'cyd', { decision: 'approve' });
    assert.equal(own.status, 403);
    assert.equal((await decide(id, 'requester', { decision: 'approve' })).status, 404);
    await decide(id, 'ann', { decision: 'approve' });
    await decide(id, 'bea', { decision: 'approve' });
    await stack.worker.ended(turn);
    assert.equal(pokes('named-1'), 1);
  });

  it('takes scopes as approvers', async () => {
    const { turn, id } = await askFor('admins-1', 'admins');
    assert.equal((await decide(id, 'ann', { decision: 'approve' })).status, 403);
    assert.equal((await decide(id, null, { decision: 'approve' })).body.status, 'approved');
    await stack.worker.ended(turn);
  });

  it('no edit leads from a lax rule round a strict one', async () => {
    const { turn, id } = await askFor('stricter-1', 'stricter');
    const refused = await decide(id, 'ann', { decision: 'edit', args: { note: 'prod-1' } });
    assert.equal(refused.status, 422);
    assert.equal((await decide(id, 'ann', { decision: 'edit', args: { note: 'dev-1' } })).status, 200);
    await stack.worker.ended(turn);
    assert.deepEqual([pokes('prod-1'), pokes('dev-1')], [0, 1]);
  });

  it('F7 of fifty people at once exactly two are recorded, and the call runs once', async () => {
    const people = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        stack.makeKey(['approve'] satisfies Scope[], { user: `person-${n}` }),
      ),
    );
    const { turn, id } = await askFor('fifty', 'two');
    const answers = await Promise.all(
      people.map((key) =>
        stack.ask('POST', `/v1/approvals/${id}/decision`, { key, body: { decision: 'approve' } }),
      ),
    );
    await stack.worker.ended(turn);
    assert.equal(pokes('fifty'), 1);
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200).map(({ body }) => body),
      [],
    );
    // The first of the two may be answered after the second one has ended it.
    assert.equal(answers.filter(({ body }) => !body.already).length, 2);
    assert.ok(answers.filter(({ body }) => body.already).every(({ body }) => body.status === 'approved'));
    const { rows } = await stack.pool.query(
      'select by from approval_decisions where tenant_id = $1 and approval_id = $2',
      [stack.tenant, id],
    );
    assert.equal(rows.length, 2);
    assert.equal(await proofsOf(id), 0, 'what was sent in vain is not kept');
  });

  it('F7 a decision sent while another one ends the approval leaves nothing behind', async () => {
    const { id } = await askFor('meanwhile', 'two');
    let late: Promise<void> | undefined;
    await inTransaction(stack.pool, async (tx) => {
      const { tenant } = stack;
      const text = 'ApprovalDenied: ann denied the call.';
      const call = { ok: false, code: 'ApprovalDenied', text };
      const no = {
        tenant,
        id,
        status: 'denied',
        decision: 'reject',
        by: 'ann',
        key: 'by-hand',
        call,
      } as const;
      await settleWithin(forTenant(tx, tenant), no);
      const bea = { by: 'bea', user: 'bea', scopes: ['approve'], keyId: null, via: 'api' } as const;
      late = insertDecisionProof(forTenant(stack.pool, tenant), id, 'of-bea', bea);
      await eventually(async () => (await proofsOf(id)) > 0 || (await isAnyoneLockedOut()));
    });
    await late;
    assert.equal(await proofsOf(id), 0);
    assert.equal((await decide(id, 'bea', { decision: 'approve' })).status, 409);
  });

  async function proofsOf(id: string): Promise<number> {
    const { rows } = await stack.pool.query(
      'select 1 from decision_proofs where tenant_id = $1 and approval_id = $2',
      [stack.tenant, id],
    );
    return rows.length;
  }

  async function isAnyoneLockedOut(): Promise<boolean> {
    const { rows } = await stack.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }
});
