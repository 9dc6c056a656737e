/** AP-2, B10: over Temporal, an approval needs its token if commands may run unboxed; other ways stay as they are. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ApprovalState, DecideInput } from '#domain/approval/approval.ts';
import { Failure } from '#domain/errors.ts';
import { insertDecisionProof } from '#store/approvals/approval-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

/** So few messages, in place of 500, make an approval go on in a new run. */
const MAX_TAKEN = 20;

function withShortRuns(code: string): string {
  const limit = 'const MAX_TAKEN = 500;';
  assert.ok(code.includes(limit), 'the line to change is in the bundle');
  return code.replace(limit, `const MAX_TAKEN = ${MAX_TAKEN};`);
}

describe('B10 decisions over Temporal where commands run unboxed', () => {
  let stack: Stack;
  let ann: string;
  before(async () => {
    stack = await startStack({
      changeWorkflows: withShortRuns,
      env: { TEMPOCLAW_DECISION_TOKEN_REQUIRED: 'auto' },
      agents: [
        { key: 'two', tools: { ask: [{ tool: 'poke', quorum: 2 }] } },
        { key: 'poor', budgets: [{ scope: 'turn', calls: 1 }] },
      ],
    });
    ann = await stack.makeKey(['read', 'approve'], { user: 'ann' });
  });
  after(() => stack.stop());

  async function askFor(note: string, body: object = {}) {
    const answer = await stack.ask('POST', `/v1/sessions/${note}/messages`, {
      body: { text: `poke {"note":"${note}"}`, ...body },
    });
    const id = await stack.worker.approvalOf(note);
    return {
      turn: answer.body.turn_id as string,
      id,
      handle: stack.worker.client.workflow.getHandle(`approval/${id}`),
    };
  }
  const makeToken = (id: string, body: object = {}, key = stack.key) =>
    stack.ask('POST', `/v1/approvals/${id}/token`, { body: { decision: 'approve', ...body }, key });
  const tokenFor = async (id: string, decision: string): Promise<string> =>
    (await makeToken(id, { decision })).body.token;
  const usedUp = async (id: string): Promise<number> => {
    const { rows } = await stack.worker.pool.query<{ count: number }>(
      'select count(*)::int as count from decision_tokens where tenant_id = $1 and approval_id = $2',
      [stack.worker.tenant, id],
    );
    return rows[0]?.count ?? 0;
  };
  const byTemporal = (id: string, more: Partial<DecideInput> = {}) =>
    stack.worker.temporal.decide(id, { decision: 'approve', ...more });
  const forbidden = (error: unknown): boolean => error instanceof Failure && error.type === 'Forbidden';
  const pokes = (note: string) => stack.worker.probes.effects.filter((effect) => effect.note === note).length;

  it('are refused without the token, by update and by signal, and taken with it', async () => {
    const { turn, id, handle } = await askFor('bare');
    const other = await askFor('another');
    const { token } = (await makeToken(other.id)).body;
    for (const bad of [{}, { by: 'ann' }, { token: 'wrong' }, { token }, { decision: 'reject' as const }])
      await assert.rejects(byTemporal(id, bad), forbidden, JSON.stringify(bad));
    await handle.signal('decide', { decision: 'approve' });
    await handle.signal('decide', { decision: 'approve', token });
    await handle.signal('withdraw', { by: 'ann' });
    assert.equal((await handle.query<ApprovalState>('state')).status, 'pending');
    const made = await makeToken(id);
    assert.equal(made.status, 200);
    assert.deepEqual([made.body.approval_id, made.body.by], [id, null]);
    await handle.signal('decide', { decision: 'approve', token: made.body.token });
    await stack.worker.ended(turn);
    assert.equal(pokes('bare'), 1);
    const own = (await makeToken(other.id)).body.token;
    assert.equal((await byTemporal(other.id, { token: own, by: 'ci' }))?.decided_by, 'ci');
    await stack.worker.ended(other.turn);
  });

  it('a token is used up wherever it was sent, so that none in any history decides anything', async () => {
    const { turn, id, handle } = await askFor('own');
    const near = await askFor('near');
    const busy = await stack.ask('POST', '/v1/sessions/busy/messages', {
      body: { text: 'hold {"note":"busy"}' },
    });
    await stack.worker.probes.untilHeld('busy');
    const session = stack.worker.client.workflow.getHandle(`session/${stack.worker.tenant}/busy`);
    const ways: Record<string, (token: string) => Promise<unknown>> = {
      'an update of another approval': (token) => byTemporal(near.id, { token }).catch(() => undefined),
      'a signal of another approval': (token) => near.handle.signal('decide', { decision: 'reject', token }),
      'a signal that no approval takes': (token) => handle.signal('approve', 'please', { with: [token] }),
      'a signal that cannot be read': (token) => handle.signal('decide', { verdict: `yes, ${token}` }),
      'a signal of a session': (token) => session.signal('decide', { decision: 'approve', token }),
      'a message to a session': (token) => session.signal('message', { id: 'm-token', text: `use ${token}` }),
    };
    for (const [way, send] of Object.entries(ways)) {
      const { token } = (await makeToken(id)).body;
      const before = await usedUp(id);
      await send(token);
      await stack.worker.until(way, async () => (await usedUp(id)) > before || undefined);
      await assert.rejects(byTemporal(id, { token }), /was used by another message/, way);
    }
    await stack.worker.temporal.decide(id, { decision: 'reject', token: await tokenFor(id, 'reject') });
    await stack.worker.temporal.decide(near.id, {
      decision: 'reject',
      token: await tokenFor(near.id, 'reject'),
    });
    stack.worker.probes.release('busy');
    for (const ended of [turn, near.turn, busy.body.turn_id]) await stack.worker.ended(ended);
  });

  it('a late token is used up, and a late signal stands in the row and the feed', async () => {
    const { turn, id } = await askFor('late');
    const near = await askFor('near-late');
    const handle = near.handle;
    const { token } = (await makeToken(id)).body;
    const nears = await tokenFor(near.id, 'reject');
    await Promise.all([
      handle.signal('decide', { decision: 'reject', token: nears }),
      handle.signal('decide', { decision: 'approve', token, by: 'eve' }),
    ]);
    await stack.worker.ended(near.turn);
    await assert.rejects(byTemporal(id, { token }), /was used by another message/);
    const shown = (await stack.ask('GET', `/v1/approvals/${near.id}`)).body;
    assert.equal(shown.refused, 1);
    assert.equal(shown.last_refused.by, 'eve');
    const events = await stack.worker.events('near-late');
    assert.equal(events.filter(({ type }) => type === 'approval.refused').length, 1);
    await stack.worker.temporal.decide(id, { decision: 'reject', token: await tokenFor(id, 'reject') });
    await stack.worker.ended(turn);
  });

  it('a key of the API proves nothing of another message, nor a token, when the run goes on as a new one', async () => {
    const { turn, id, handle } = await askFor('again');
    const { token } = (await makeToken(id)).body;
    const early = (await makeToken(id, { decision: 'reject' })).body.token;
    const send = (key: string, more: Partial<DecideInput>) =>
      handle.executeUpdate('decide', { updateId: key, args: [{ decision: 'approve', ...more }] });
    const sender = { by: 'ann', user: 'ann', scopes: ['approve'], keyId: null, via: 'api' } as const;
    await insertDecisionProof(forTenant(stack.worker.pool, stack.worker.tenant), id, 'ours', sender);
    await assert.rejects(send('ours', { args: { note: 'other' } }));
    await assert.rejects(send('theirs', { decision: 'reject', token }));
    const { runId } = await handle.describe();
    // Each has to be looked up in the rows, as one without a token has not.
    const forged = (): string => [60, 32].map((size) => randomBytes(size).toString('base64url')).join('.');
    const floods = Array.from({ length: MAX_TAKEN + 10 }, () =>
      handle.signal('escalate', { token: forged() }),
    );
    await Promise.all(floods);
    await stack.worker.until(
      'another run',
      async () => (await handle.describe()).runId !== runId || undefined,
    );
    await assert.rejects(send('ours', {}));
    await assert.rejects(send('theirs', { token }));
    const state = await handle.query<ApprovalState>('state');
    assert.deepEqual([state.status, state.refused], ['pending', 4 + floods.length]);
    await stack.worker.temporal.decide(id, { decision: 'reject', token: early });
    await stack.worker.ended(turn);
  });

  it('are told to need it by state, HTTP and the web UI; a key decides without', async () => {
    const { turn, id, handle } = await askFor('shown');
    assert.equal((await handle.query<ApprovalState>('state')).token_required, true);
    const shown = await stack.ask('GET', `/v1/approvals/${id}`);
    assert.equal(shown.body.terms.decision_token, true);
    const details = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(details.currentDetails, /"token":"…".*tempoclaw approvals token ID/);
    const decided = await stack.ask('POST', `/v1/approvals/${id}/decision`, {
      body: { decision: 'approve' },
    });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    await stack.worker.ended(turn);
  });

  it('DU-7 a question for more budget needs it as well', async () => {
    const text = 'peek {"note":"a"}\nthen\nDone.';
    const answer = await stack.ask('POST', '/v1/sessions/poor/messages', { body: { text, agent: 'poor' } });
    const id = await stack.worker.approvalOf('poor');
    await assert.rejects(byTemporal(id), forbidden);
    assert.equal((await stack.ask('GET', `/v1/approvals/${id}`)).body.terms.decision_token, true);
    const { token } = (await makeToken(id)).body;
    assert.equal((await byTemporal(id, { token }))?.status, 'approved');
    assert.equal((await stack.worker.ended(answer.body.turn_id)).status, 'completed');
  });

  it('AP-4 a token speaks for the user of its key, and an admin makes them for those who may decide', async () => {
    const { turn, id } = await askFor('people', { agent: 'two', user: 'cyd' });
    const own = await makeToken(id, {}, ann);
    assert.equal(own.body.by, 'ann');
    assert.equal((await makeToken(id, { by: 'bea' }, ann)).status, 403);
    const service = await stack.makeKey(['read', 'approve']);
    assert.equal((await makeToken(id, {}, service)).status, 403);
    assert.equal((await makeToken(id, { by: 'bea' }, service)).status, 403);
    const { token } = own.body;
    await assert.rejects(byTemporal(id, { token, by: 'bea' }), forbidden);
    await assert.rejects(byTemporal(id, { token, by: 'ann' }), forbidden);
    const again = (await makeToken(id, {}, ann)).body.token;
    assert.equal((await byTemporal(id, { token: again, by: 'ann' }))?.tally, '1 of 2');
    const beas = (await makeToken(id, { by: 'bea' })).body.token;
    assert.equal((await byTemporal(id, { token: beas, by: 'bea' }))?.status, 'approved');
    await stack.worker.ended(turn);
    assert.equal((await makeToken(id)).status, 409);
  });

  it('R8 nobody gets a token for what he may not decide, nor for what is not there', async () => {
    const { turn, id } = await askFor('bobs', { user: 'bob' });
    assert.equal((await makeToken(id, {}, ann)).status, 404);
    assert.equal((await makeToken(id, { by: 'ann' })).status, 422);
    assert.equal((await makeToken('apr_never', {})).status, 404);
    assert.equal((await makeToken(id, {}, (await stack.makeTenant()).key)).status, 404);
    assert.equal((await makeToken(id, {}, await stack.makeKey(['read', 'run']))).status, 403);
    const once = { headers: { 'idempotency-key': 'a-token' }, body: { decision: 'approve' } };
    assert.match(
      (await stack.ask('POST', `/v1/approvals/${id}/token`, once)).body.token,
      /^[\w-]+\.[\w-]{43}$/,
    );
    assert.equal((await stack.ask('POST', `/v1/approvals/${id}/token`, once)).body.token, null);
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'reject' } });
    await stack.worker.ended(turn);
  });
});
