import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('AP-2 approvals over HTTP', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  /** A turn that waits for the approval of `poke`. */
  async function askFor(note: string): Promise<{ turn: string; approval: string }> {
    const { body } = await stack.ask('POST', `/v1/sessions/${note}/messages`, {
      body: { text: `poke {"note":"${note}"}` },
    });
    const approval = await stack.worker.until('an approval', async () => {
      const list = await stack.ask('GET', `/v1/approvals?status=pending&session_key=${note}`);
      return list.body.data[0]?.id as string | undefined;
    });
    return { turn: body.turn_id, approval };
  }
  const decide = (id: string, body: unknown, key = stack.key) =>
    stack.ask('POST', `/v1/approvals/${id}/decision`, { body, key });
  const pokes = (note: string) => stack.worker.probes.effects.filter((effect) => effect.note === note).length;

  it('SH-2 shows what waits, for a day, approves it, and the call runs once', async () => {
    const { turn, approval } = await askFor('approve');
    const shown = await stack.ask('GET', `/v1/approvals/${approval}`);
    assert.equal(shown.body.workflow_id, `approval/${approval}`);
    assert.equal(shown.body.status, 'pending');
    assert.equal(shown.body.tool, 'poke');
    assert.deepEqual(shown.body.args, { note: 'approve' });
    assert.equal(shown.body.turn_id, turn);
    assert.equal(shown.body.session_key, 'approve');
    assert.equal(Math.round((Date.parse(shown.body.expires_at) - Date.now()) / 3_600_000), 24);
    assert.equal((await stack.ask('GET', `/v1/turns/${turn}`)).body.status, 'waiting_approval');

    const decided = await decide(approval, { decision: 'accept' });
    assert.equal(decided.status, 200);
    assert.equal(decided.body.status, 'approved');
    assert.equal(decided.body.decided_by, 'key:test admin');
    await stack.worker.ended(turn);
    assert.equal(pokes('approve'), 1);
  });

  it('AP-3 takes the scope of an approval beside the word: `always` is approve_always, and of nothing else', async () => {
    const first = await askFor('scoped');
    assert.equal((await decide(first.approval, { decision: 'reject', scope: 'always' })).status, 400);
    assert.equal((await decide(first.approval, { decision: 'approve_always', scope: 'once' })).status, 400);
    assert.equal((await decide(first.approval, { decision: 'approve', scope: 'session' })).status, 400);
    const once = await decide(first.approval, { decision: 'approve', scope: 'once' });
    assert.deepEqual([once.status, once.body.decision], [200, 'approve']);
    const second = await askFor('scoped-always');
    const always = await decide(second.approval, { decision: 'allow', scope: 'always' });
    assert.deepEqual([always.status, always.body.decision], [200, 'approve_always']);
    await stack.worker.ended(second.turn);
  });

  it('ends a wait: who waits for the turn is told at once that somebody must decide, and waits again for its end', async () => {
    const answer = await stack.ask('POST', '/v1/sessions/waits/messages?wait=60', {
      body: { text: 'poke {"note":"waits"}' },
    });
    assert.deepEqual([answer.status, answer.body.status], [202, 'waiting_approval']);
    const approval = await stack.worker.approvalOf('waits');
    assert.equal((await decide(approval, { decision: 'approve' })).status, 200);
    await stack.worker.ended(answer.body.turn_id);
  });

  it('F7 lets one of 50 parallel opposite decisions win; the losers get 200 for the same and 409 for the other', async () => {
    const { turn, approval } = await askFor('race');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_one, at) =>
        decide(approval, at % 2 ? { decision: 'approve' } : { decision: 'reject', reason: 'no' }),
      ),
    );
    const decided = (await stack.worker.events('race')).filter((event) => event.type === 'approval.decided');
    assert.equal(decided.length, 1);
    const won = decided[0]?.data['decision'];
    assert.ok(answers.filter(({ status, body }) => status === 200 && !body.already).length <= 1);
    for (const [at, { status, body }] of answers.entries()) {
      const mine = at % 2 ? 'approve' : 'reject';
      assert.equal(status, mine === won ? 200 : 409, JSON.stringify(body));
      if (mine !== won) assert.equal(body.code, 'AlreadyDecided');
    }
    await stack.worker.ended(turn);
    assert.equal(pokes('race'), won === 'approve' ? 1 : 0);
  });

  it('answers from the row when the workflow has ended: the same is 200 again, the other 409 with who and when', async () => {
    const { turn, approval } = await askFor('late');
    await decide(approval, { decision: 'reject', reason: 'not now' });
    await stack.worker.ended(turn);
    const same = await decide(approval, { decision: 'deny' });
    assert.equal(same.status, 200);
    assert.equal(same.body.already, true);
    const other = await decide(approval, { decision: 'approve' });
    assert.equal(other.status, 409);
    assert.equal(other.body.code, 'AlreadyDecided');
    assert.match(other.body.detail, /already decided by key:test admin at \d{4}-.*: denied$/);
    assert.equal(pokes('late'), 0);
  });

  it('F8 answers 410 after the expiry, and nothing runs', async () => {
    const hasty = await startStack({ env: { TEMPOCLAW_APPROVAL_EXPIRY_SECONDS: '1' } });
    try {
      const { body } = await hasty.ask('POST', '/v1/sessions/x/messages', {
        body: { text: 'poke {"note":"x"}' },
      });
      const approval = await hasty.worker.approvalOf('x');
      await hasty.worker.ended(body.turn_id);
      const late = await hasty.ask('POST', `/v1/approvals/${approval}/decision`, {
        body: { decision: 'approve' },
      });
      assert.equal(late.status, 410);
      assert.equal(late.body.code, 'ApprovalExpired');
      assert.equal(hasty.worker.probes.effects.length, 0);
    } finally {
      await hasty.stop();
    }
  });

  it('answers 410 when the turn was stopped before', async () => {
    const { turn, approval } = await askFor('withdrawn');
    await stack.ask('POST', '/v1/sessions/withdrawn/stop', { body: { level: 'now' } });
    await stack.worker.ended(turn);
    const late = await decide(approval, { decision: 'approve' });
    assert.equal(late.status, 410);
    assert.equal(late.body.code, 'ApprovalWithdrawn');
  });

  it('R3 takes who decides from the key: the body cannot say it, and a key without the scope cannot decide', async () => {
    const { approval } = await askFor('who');
    const forged = await decide(approval, { decision: 'approve', by: 'the boss' });
    assert.equal(forged.status, 400);
    assert.equal(forged.body.errors[0].pointer, 'body/by');
    const reader = await stack.makeKey(['read', 'run']);
    assert.equal((await decide(approval, { decision: 'approve' }, reader)).status, 403);
    const ann = await stack.makeKey(['approve'], { user: 'ann' });
    const decided = await decide(approval, { decision: 'approve' }, ann);
    assert.equal(decided.body.decided_by, 'ann');
  });

  it('AP-3 edits the arguments: the schema runs again, and the edited call is what runs', async () => {
    const { turn, approval } = await askFor('edit');
    const wrong = await decide(approval, { decision: 'edit', args: { note: [] } });
    assert.ok(wrong.status === 422 || wrong.status === 400, String(wrong.status));
    const guess = await decide(approval, { decision: 'edit', args: { note: 5 } });
    assert.deepEqual(
      [guess.status, guess.body.detail],
      [422, 'the edited arguments are refused: note: must be text, not a number'],
    );
    const edited = await decide(approval, { decision: 'edit', args: { note: 'edited' } });
    assert.equal(edited.status, 200);
    await stack.worker.ended(turn);
    assert.equal(pokes('edited'), 1);
    assert.equal(pokes('edit'), 0);
  });

  it('AP-3 VF-4 an edit to a path that no tool may reach is refused, and uses up no approval', async () => {
    const body = { key: 'paths', model: 'rehearsal/follow', tools: { ask: [{ tool: 'write_file' }] } };
    assert.equal((await stack.ask('POST', '/v1/agents', { body })).status, 201);
    const text = 'write_file {"path":"in.txt","content":"x"}\nthen\nDone.';
    const { turn_id } = await stack.worker.say('paths', text, { agent: 'paths' });
    const approval = await stack.worker.approvalOf('paths');
    const edit = (path: string) => decide(approval, { decision: 'edit', args: { path, content: 'x' } });
    for (const path of ['../out.txt', '/etc/out.txt', 'a/../../out.txt', '.tempoclaw/x']) {
      const refused = await edit(path);
      assert.equal(refused.status, 422, path);
      assert.match(
        refused.body.detail,
        /the edited arguments are refused: .*(outside the workspace|no tool may)/,
      );
    }
    assert.equal((await edit('made/here.txt')).status, 200);
    await stack.worker.ended(turn_id);
    assert.equal((await stack.worker.calls(turn_id))[0]?.ok, true);
  });

  it('AP-3 an approval that brings other arguments than those shown is refused, and one that repeats them is not', async () => {
    const { turn, approval } = await askFor('repeats');
    for (const args of [{ note: 'other' }, { action: 'poke', args: { note: 'other' } }]) {
      const other = await decide(approval, { decision: 'accept', args });
      assert.deepEqual([other.status, other.body.code], [422, 'Unprocessable']);
      assert.match(other.body.detail, /decide edit/);
    }
    const { args } = (await stack.ask('GET', `/v1/approvals/${approval}`)).body;
    const same = await decide(approval, { decision: 'accept', args: { action: 'poke', args } });
    assert.deepEqual([same.status, same.body.decision], [200, 'approve']);
    await stack.worker.ended(turn);
    assert.deepEqual([pokes('repeats'), pokes('other')], [1, 0]);
  });

  it('AP-2 a second edit or response is told who won, since it says something else; the same request again is not', async () => {
    const edit = { decision: 'edit', args: { note: 'first edit' } };
    const again = { decision: 'edit', args: { note: 'second edit' } };
    const { turn, approval } = await askFor('edits');
    const send = (body: unknown, key: string) =>
      stack.ask('POST', `/v1/approvals/${approval}/decision`, { body, headers: { 'idempotency-key': key } });
    const both = await Promise.all([send(edit, 'edit-1'), send(edit, 'edit-1')]);
    assert.deepEqual(
      both.map(({ status, body }) => [status, body.decision]),
      [
        [200, 'edit'],
        [200, 'edit'],
      ],
    );
    const second = await send(again, 'edit-2');
    assert.deepEqual([second.status, second.body.code], [409, 'AlreadyDecided']);
    await stack.worker.ended(turn);
    assert.equal((await send(again, 'edit-3')).status, 409);
    assert.deepEqual([pokes('first edit'), pokes('second edit')], [1, 0]);

    const other = await askFor('answers');
    const respond = (text: string) => decide(other.approval, { decision: 'respond', text });
    assert.equal((await respond('Yes.')).status, 200);
    assert.equal((await respond('No.')).status, 409);
  });

  it('refuses words that are no decision, and edit and respond without what they need', async () => {
    const { approval } = await askFor('words');
    for (const body of [
      { decision: 'maybe' },
      { decision: 'edit' },
      { decision: 'respond' },
      { decision: 'respond', text: ' \n' },
      { decision: 1 },
      [],
    ])
      assert.equal((await decide(approval, body)).status, 400, JSON.stringify(body));
    await decide(approval, { decision: 'reject' });
  });

  it('pages through approvals without repeat or gap', async () => {
    const all = await stack.ask('GET', '/v1/approvals?limit=200');
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const page = await stack.ask('GET', `/v1/approvals?limit=2&after=${after}`);
      seen.push(...page.body.data.map(({ id }: { id: string }) => id));
      if (!page.body.has_more) break;
      after = page.body.next_cursor;
    }
    assert.deepEqual(
      seen,
      all.body.data.map(({ id }: { id: string }) => id),
    );
  });
});
