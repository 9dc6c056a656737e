/** Guarded calls over HTTP: judged by an agent's rules, asked about, recorded once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { SWEEP, sweepId } from '#domain/sweep.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const SECRET = 'sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6';

describe('guarded calls', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    const rules = [
      { tool: 'refund', args: { order: 'forbidden*' }, decision: 'deny', reason: 'not this order' },
      { tool: 'refund', args: { euros: '1' }, decision: 'allow' },
      { tool: 'refund', decision: 'ask' },
      { tool: 'twice', decision: 'ask', quorum: 2 },
      { tool: 'brief', decision: 'ask', expires_seconds: 1 },
    ];
    const body = { key: 'shop', model: 'rehearsal/follow', tools: { rules } };
    const made = await stack.ask('POST', '/v1/agents', { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => stack.stop());

  const begin = (id: string, call: object = {}, { key, wait = 0 }: { key?: string; wait?: number } = {}) =>
    stack.ask('PUT', `/v1/guarded-calls/${id}?wait=${wait}`, {
      body: {
        tool: 'refund',
        args: { order: '7', euros: 20 },
        agent: 'shop',
        namespace: 'shop',
        workflow_id: 'order-7',
        run_id: 'r1',
        ...call,
      },
      ...(key && { key }),
    });
  const end = (id: string, body: object) => stack.ask('POST', `/v1/guarded-calls/${id}/outcome`, { body });
  const decide = (approval: string, body: object) =>
    stack.ask('POST', `/v1/approvals/${approval}/decision`, { body });
  const newId = () => `gc_${randomUUID()}`;

  it('PO-3 an allowed call runs at once, and its end is recorded once', async () => {
    const id = newId();
    const begun = await begin(id, { args: { order: '7', euros: 1 } });
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    assert.equal(begun.body.decision, 'allowed');
    assert.equal(begun.body.outcome, null);
    const ended = await end(id, { outcome: 'ok', text: `done with ${SECRET}` });
    assert.equal(ended.body.outcome, 'ok');
    assert.ok(!ended.body.text.includes(SECRET));
    const again = await end(id, { outcome: 'unknown' });
    assert.equal(again.body.outcome, 'ok');
  });

  it('PO-3 a denied call has words for a model, and cannot be recorded as run', async () => {
    const id = newId();
    const begun = await begin(id, { args: { order: 'forbidden-1', euros: 20 } });
    assert.deepEqual([begun.body.decision, begun.body.reason], ['denied', 'not this order']);
    assert.equal((await end(id, { outcome: 'ok' })).status, 409);
    assert.equal((await end(id, { outcome: 'not_run' })).body.outcome, 'not_run');
  });

  it('AP-1 a call waits for a person, and the same request has the decision', async () => {
    const id = newId();
    const begun = await begin(id);
    assert.equal(begun.body.decision, 'waiting');
    const { body: listed } = await stack.ask('GET', '/v1/approvals?status=pending&tool=refund');
    assert.ok(listed.data.some((one: { id: string }) => one.id === begun.body.approval_id));
    const waiting = begin(id, {}, { wait: 30 });
    assert.equal((await decide(begun.body.approval_id, { decision: 'approve' })).status, 200);
    assert.equal((await waiting).body.decision, 'allowed');
    assert.equal((await begin(id)).body.edited_args, null);
    assert.equal((await begin(id, { args: { order: '8' } })).status, 409);
  });

  it('AP-3 a person rejects, answers in its place, or changes the arguments', async () => {
    const [rejected, answered, edited] = [newId(), newId(), newId()];
    const ask = async (id: string, decision: object) => {
      const { body } = await begin(id);
      const decided = await decide(body.approval_id, decision);
      assert.equal(decided.status, 200, JSON.stringify(decided.body));
      return (await begin(id)).body;
    };
    const no = await ask(rejected, { decision: 'reject', reason: 'too much' });
    assert.equal(no.decision, 'denied');
    assert.match(no.reason, /denied the call: too much/);
    const answer = await ask(answered, { decision: 'respond', text: 'it was refunded by phone' });
    assert.deepEqual([answer.decision, answer.answer], ['answered', 'it was refunded by phone']);
    const args = { order: '7', euros: 10, token: SECRET };
    const changed = await ask(edited, { decision: 'edit', args });
    assert.deepEqual([changed.decision, changed.edited_args], ['allowed', args]);
    const { body: shown } = await stack.ask('GET', `/v1/approvals/${changed.approval_id}`);
    assert.ok(!JSON.stringify(shown).includes(SECRET));
    assert.equal(shown.is_masked, true);
  });

  it('AP-3 an edit that a rule denies is refused', async () => {
    const { body } = await begin(newId());
    const edit = { decision: 'edit', args: { order: 'forbidden-2', euros: 20 } };
    assert.equal((await decide(body.approval_id, edit)).status, 422);
    assert.equal((await decide(body.approval_id, { decision: 'approve' })).status, 200);
  });

  it('AP-3 what is allowed always asks nobody again', async () => {
    const args = { order: 'always', euros: 5 };
    const { body } = await begin(newId(), { args });
    assert.equal((await decide(body.approval_id, { decision: 'approve_always' })).status, 200);
    assert.equal((await begin(newId(), { args })).body.decision, 'allowed');
  });

  it('AP-4 a quorum needs two people', async () => {
    const id = newId();
    const { body } = await begin(id, { tool: 'twice' });
    const people = [];
    for (const user of ['ann', 'bob']) people.push(await stack.makeKey(['approve'], { user }));
    for (const [at, key] of people.entries()) {
      const path = `/v1/approvals/${body.approval_id}/decision`;
      const sent = await stack.ask('POST', path, { key, body: { decision: 'approve' } });
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      assert.equal((await begin(id, { tool: 'twice' })).body.decision, at === 0 ? 'waiting' : 'allowed');
    }
  });

  it('AP-6 a question that nobody decides denies the call', async () => {
    const { body } = await begin(newId(), { tool: 'brief' });
    const over = await begin(body.id, { tool: 'brief' }, { wait: 30 });
    assert.deepEqual(
      [over.body.decision, over.body.reason],
      ['denied', 'nobody decided about the call in time'],
    );
  });

  it('AP-1 a call that its program gives up withdraws its question', async () => {
    const { body } = await begin(newId());
    assert.equal((await end(body.id, { outcome: 'not_run' })).body.decision, 'denied');
    await stack.worker.until('the question to be withdrawn', async () => {
      const { body: approval } = await stack.ask('GET', `/v1/approvals/${body.approval_id}`);
      return approval.status === 'withdrawn' ? true : undefined;
    });
  });

  it('AP-1 a question whose workflow nobody started is asked by a sweep, and withdrawn when its call has ended', async () => {
    const [asked, ended] = [await begin(newId()), await begin(newId())];
    const workflowOf = ({ body }: typeof asked) =>
      stack.worker.client.workflow.getHandle(`approval/${body.approval_id}`);
    const statusOf = async ({ body }: typeof asked) =>
      (await stack.ask('GET', `/v1/approvals/${body.approval_id}`)).body.status;
    // What a process leaves that dies after its commit has no workflow either.
    for (const one of [asked, ended]) await workflowOf(one).terminate();
    await end(ended.body.id, { outcome: 'not_run' });
    await stack.pool.query(
      `update approvals set created_at = created_at - interval '2 minutes' where id = any($1)`,
      [[asked.body.approval_id, ended.body.approval_id]],
    );
    await stack.worker.client.workflow.execute(SWEEP.type, {
      workflowId: `${sweepId(stack.worker.taskQueue)}/test`,
      taskQueue: stack.worker.taskQueue,
    });
    await stack.worker.until('the question to be withdrawn', async () =>
      (await statusOf(ended)) === 'withdrawn' ? true : undefined,
    );
    assert.equal((await workflowOf(asked).describe()).status.name, 'RUNNING');
    assert.equal((await decide(asked.body.approval_id, { decision: 'approve' })).status, 200);
    assert.equal((await begin(asked.body.id)).body.decision, 'allowed');
  });

  it('SC-3 secrets in arguments are masked in rows and lists', async () => {
    const id = newId();
    await begin(id, { args: { order: SECRET, euros: 1 } });
    const { rows } = await stack.pool.query('select to_jsonb(g) as row from guarded_calls g where id = $1', [
      id,
    ]);
    assert.ok(!JSON.stringify(rows).includes(SECRET));
  });

  it('IN-9 a user’s key neither sees nor continues calls of others, and a key without `run` begins none', async () => {
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((user) => stack.makeKey(['read', 'run'], { user })),
    );
    const id = newId();
    assert.equal((await begin(id, {}, { key: ann })).body.user, 'ann');
    assert.equal((await stack.ask('GET', `/v1/guarded-calls/${id}`, { key: bob })).status, 404);
    assert.equal((await begin(id, {}, { key: bob })).status, 404);
    const { body } = await stack.ask('GET', '/v1/guarded-calls?tool=refund', { key: bob });
    assert.deepEqual(body.data, []);
    const reader = await stack.makeKey(['read']);
    assert.equal((await begin(newId(), {}, { key: reader })).status, 403);
  });

  it('a native tool’s name and an unknown agent are refused', async () => {
    assert.equal((await begin(newId(), { tool: 'exec' })).status, 422);
    assert.equal((await begin(newId(), { agent: 'nobody' })).status, 422);
  });

  it('FG-1 calls go with the session of their workflow', async () => {
    const call = { workflow_id: 'order-9', args: { order: '9', euros: 1 } };
    const { body } = await begin(newId(), call);
    await stack.ask('DELETE', `/v1/sessions/${body.session_key}`);
    await stack.worker.until('the call to be gone', async () =>
      (await stack.ask('GET', `/v1/guarded-calls/${body.id}`)).status === 404 ? true : undefined,
    );
  });
});
