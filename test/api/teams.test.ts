/**
 * TE-1 … TE-4: teams and their tasks over HTTP: refusals give reasons, and input is accepted under the tool's names.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TE teams over HTTP', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    for (const key of ['lead', 'writer', 'reader'])
      await stack.ask('POST', '/v1/agents', { body: { key, model: 'rehearsal/follow' } });
    await stack.ask('POST', '/v1/teams', { body: { key: 't', lead: 'lead', members: ['writer', 'reader'] } });
  });
  after(() => stack.stop());

  const board = '/v1/teams/t/tasks';
  const act = (number: number, action: string, body: unknown) =>
    stack.ask('POST', `${board}/${number}/${action}`, { body });

  /** Number and lease token of a new task that the writer has claimed. */
  async function claimed(subject: string): Promise<{ number: number; token: string }> {
    const { number } = (await stack.ask('POST', board, { body: { subject } })).body;
    const { body } = await act(number, 'claim', { member: 'writer' });
    return { number, token: body.lease.token };
  }

  it('TE-1 a member becomes the lead only when it is no member any more', async () => {
    const both = await stack.ask('PATCH', '/v1/teams/t', { body: { lead: 'writer' } });
    assert.equal(both.status, 422);
    assert.match(both.body.detail, /^writer leads the team and cannot be a member of it/);
    assert.equal((await stack.ask('GET', '/v1/teams/t')).body.lead, 'lead');
    const swap = { lead: 'writer', members: ['lead', 'reader'] };
    assert.equal((await stack.ask('PATCH', '/v1/teams/t', { body: swap })).body.lead, 'writer');
    const back = { lead: 'lead', members: ['writer', 'reader'] };
    assert.equal((await stack.ask('PATCH', '/v1/teams/t', { body: back })).status, 200);
  });

  it('TE-1 a member that another change makes the lead meanwhile, or a lead a member, is refused', async () => {
    await stack.ask('POST', '/v1/teams', { body: { key: 'raced', lead: 'lead', members: ['reader'] } });
    const lead = "update teams set lead = 'writer' where key = 'raced'";
    const back = "update teams set lead = 'lead' where key = 'raced'";
    const member = `with team as (update teams set updated_at = now() where key = 'raced' returning tenant_id, key)
      insert into team_members (tenant_id, team_key, agent_key) select tenant_id, key, 'writer' from team`;
    const waiting =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    for (const [first, body] of [
      [lead, { members: ['reader', 'writer'] }],
      [`${back}; ${member}`, { lead: 'writer' }],
    ] as const) {
      const client = await stack.pool.connect();
      try {
        await client.query('begin');
        await client.query(first);
        const second = stack.ask('PATCH', '/v1/teams/raced', { body });
        assert.ok(await eventually(async () => (await stack.pool.query(waiting)).rowCount !== 0));
        await client.query('commit');
        const refused = await second;
        assert.equal(refused.status, 422, JSON.stringify(refused.body));
        assert.match(refused.body.detail, /^writer leads the team and cannot be a member of it/);
      } finally {
        client.release();
      }
    }
  });

  it('TE-1 a refusal of a team names the field', async () => {
    const fields = async (method: string, path: string, body: unknown): Promise<readonly string[]> => {
      const { status, body: problem } = await stack.ask(method, path, { body });
      assert.equal(status, 422);
      return problem.errors.map(({ pointer }: { pointer: string }) => pointer);
    };
    const members = ['writer', 'nobody'];
    const create = (body: object) => fields('POST', '/v1/teams', { key: 'u', ...body });
    assert.deepEqual(await create({ lead: 'ghost', members }), ['body/lead', 'body/members/1']);
    assert.deepEqual(await create({ lead: 'writer', members: ['writer'] }), ['body/members']);
    assert.deepEqual(await fields('PATCH', '/v1/teams/t', { members }), ['body/members/1']);
    assert.deepEqual(await fields('PATCH', '/v1/teams/t', { lead: 'writer' }), ['body/lead']);
  });

  it('TE-2 a subject of nothing but blanks is refused', async () => {
    const blank = await stack.ask('POST', board, { body: { subject: ' \n' } });
    assert.deepEqual([blank.status, blank.body.detail], [400, 'body/subject: must say something']);
  });

  it('TE-6 a list is of one status, of what is not closed, or of all', async () => {
    const open = (await stack.ask('POST', board, { body: { subject: 'Open' } })).body.number;
    const closed = (await stack.ask('POST', board, { body: { subject: 'Closed' } })).body.number;
    await act(closed, 'cancel', { reason: 'No need.' });
    const listed = async (query: string) => {
      const { data } = (await stack.ask('GET', `${board}${query}`)).body;
      return [open, closed].filter((one) => data.some(({ number }: { number: number }) => number === one));
    };
    assert.deepEqual(await listed(''), [open, closed]);
    assert.deepEqual(await listed('?status=all'), [open, closed]);
    assert.deepEqual(await listed('?status=active'), [open]);
    assert.deepEqual(await listed('?status=cancelled'), [closed]);
    assert.equal((await stack.ask('GET', `${board}?status=finished`)).status, 400);
  });

  it('TE-4 result and reason are the words of complete, review, reject and cancel, as in the tool', async () => {
    const one = await claimed('One');
    const done = await act(one.number, 'complete', {
      member: 'writer',
      token: one.token,
      result: 'It is done.',
    });
    assert.equal(done.body.status, 'completed', JSON.stringify(done.body));
    assert.equal((await stack.ask('GET', `${board}/${one.number}`)).body.result, 'It is done.');

    const two = await claimed('Two');
    assert.equal((await act(two.number, 'cancel', { reason: 'No need.' })).body.status, 'cancelled');
    assert.equal((await stack.ask('GET', `${board}/${two.number}`)).body.reason, 'No need.');
    await act(two.number, 'retry', {});
    assert.equal((await stack.ask('GET', `${board}/${two.number}`)).body.reason, null, 'it is open again');

    const twice = await act(two.number, 'comment', { text: 'a', reason: 'b' });
    assert.deepEqual(
      [twice.status, twice.body.detail],
      [400, 'body/text: is the same as text, result or reason; send one of them'],
    );
  });

  it('TE-4 an attachment without a file is told what is missing', async () => {
    const { number, token } = await claimed('Files');
    const bare = await act(number, 'attach', { member: 'writer', token });
    assert.equal(bare.status, 400);
    assert.match(bare.body.detail, /^file is required for attach action/);
    const file = { name: 'a.txt', content: Buffer.from('hello').toString('base64') };
    assert.equal((await act(number, 'attach', { member: 'writer', token, file })).status, 200);
  });

  it('TE-3 who holds a task and sends no token is told to', async () => {
    const { number, token } = await claimed('Held');
    const bare = await act(number, 'complete', { member: 'writer', result: 'x' });
    assert.equal(bare.status, 403);
    assert.match(bare.body.detail, /the holder sends the token that its claim gave$/);
    const other = await act(number, 'complete', { member: 'reader', result: 'x' });
    assert.deepEqual(
      [other.status, other.body.detail],
      [403, 'only the task’s holder or the team lead can complete it'],
    );
    assert.equal((await act(number, 'complete', { member: 'writer', token })).status, 200);
  });
});
