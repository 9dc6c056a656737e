/** DU-11, DU-8: what is forgotten, or is past its retention, leaves digests, and the chain stays green. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pruneByRetention } from '#store/retention-store.ts';
import { verifyEvidence } from '../verify.ts';
import { type Recorded, recordWork, startRecorded } from './recorded.ts';

describe('DU-11 evidence of what was forgotten', () => {
  let recorded: Recorded;
  before(async () => {
    recorded = await startRecorded();
    await recordWork(recorded, 2);
  });
  after(() => recorded?.stop());

  async function say(user: string, session: string, text: string, agent = 'main'): Promise<void> {
    const { status, body } = await recorded.stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text, user, agent },
    });
    assert.ok(status === 200 || status === 202, JSON.stringify(body));
  }

  const entriesOf = async () =>
    (await recorded.exported())
      .slice(1, -1)
      .map((line) => JSON.parse(line) as { readonly content: string | null });

  /** The chain's rows that contain the text. */
  async function whereIs(text: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const table of ['evidence_entries', 'evidence_pending', 'evidence_removals']) {
      const { rowCount } = await recorded.stack.pool.query(
        `select from ${table} t where t::text like '%' || $1 || '%'`,
        [text],
      );
      if (rowCount) found.push(table);
    }
    return found;
  }

  async function ended(receipt: string): Promise<void> {
    const { stack } = recorded;
    await stack.worker.until('the end of the forgetting', async () =>
      (await stack.ask('GET', `/v1/forgettings/${receipt}`)).body.ended_at ? true : undefined,
    );
  }

  it('is green after a user was forgotten, whose contents are gone and whose digests stay', async () => {
    const { stack } = recorded;
    const write = 'write_file {"path":"wombat.md","content":"wombat"}';
    await say('wombat', 'wombat-1', `${write}\nthen\nread_file {"path":"wombat.md"}`);
    await say('wombat', 'wombat-2', write, 'asks');
    const approval = await stack.worker.approvalOf('wombat-2');
    const decided = await stack.ask('POST', `/v1/approvals/${approval}/decision`, {
      body: { decision: 'approve', reason: 'wombat' },
    });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    const [turn] = await stack.worker.turns('wombat-2');
    await stack.worker.ended(turn?.id ?? '');
    // Not yet in the chain, or just so.
    await say('wombat', 'wombat-3', write);
    const before = await entriesOf();
    const hers = before.filter(({ content }) => content?.includes('wombat')).length;
    assert.ok(hers >= 6);
    const { body } = await stack.ask('DELETE', '/v1/users/wombat');
    await ended(body.id);
    const lines = await recorded.exported();
    const verdict = await verifyEvidence(lines);
    assert.deepEqual(verdict.fault, null);
    assert.deepEqual(verdict.forgotten, { [body.id]: hers });
    assert.ok(!lines.some((line) => line.includes('wombat')));
    assert.deepEqual(await whereIs('wombat'), []);
    const after = await entriesOf();
    assert.ok(after.length > before.length);
    // Everything that was recorded of others is there.
    assert.deepEqual(
      after.slice(0, before.length).filter(({ content }) => content !== null),
      before.filter(({ content }) => !content?.includes('wombat')),
    );
  });

  it('is green after a turn was forgotten that nobody had recorded yet', async () => {
    const { stack } = recorded;
    const client = await stack.pool.connect();
    await client.query(`begin; select lock_evidence('${stack.tenant}')`);
    await say('numbat', 'numbat', 'write_file {"path":"numbat.md","content":"numbat"}');
    await client.query('commit');
    client.release();
    const { body } = await stack.ask('DELETE', '/v1/sessions/numbat');
    await ended(body.id);
    assert.deepEqual((await recorded.verified()).fault, null);
    assert.deepEqual(await whereIs('numbat'), []);
  });

  it('is green after retention, and says so', async () => {
    const { stack } = recorded;
    await say('quoll', 'quoll', 'write_file {"path":"quoll.md","content":"quoll"}');
    assert.deepEqual((await recorded.verified()).fault, null);
    for (const change of [
      `update turns set created_at = created_at - interval '10 days' where session_key = 'quoll'`,
      `update sessions set updated_at = updated_at - interval '10 days' where key = 'quoll'`,
    ])
      await stack.pool.query(change);
    await stack.ask('PUT', '/v1/retention', { body: { transcripts_days: 5 } });
    assert.ok((await pruneByRetention(stack.pool, stack.deps.rows, {})) > 0);
    const verdict = await recorded.verified();
    assert.deepEqual(verdict.fault, null);
    assert.equal(verdict.forgotten['retention'], 1);
    assert.ok(!(await recorded.exported()).some((line) => line.includes('quoll')));
  });

  it('names what somebody removes who only pretends to forget', async () => {
    const { superuser } = recorded;
    const { rows } = await superuser.query(
      `select seq::int, subject from evidence_entries where kind = 'call' and salt is not null order by seq limit 1`,
    );
    const [{ seq, subject }] = rows;
    await superuser.query(`update evidence_entries set salt = null, subject = null where seq = ${seq};
      delete from tool_calls where id = '${subject}'`);
    const { fault } = await recorded.verified();
    assert.deepEqual([fault?.fault, fault?.seq], ['deleted', seq]);
  });
});
