import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Forgetting } from '#domain/schema/forgetting.ts';
import { addUsesToSums } from '#store/budgets/usage-rollup.ts';
import { writeDocument } from '#store/files/document-store.ts';
import { pruneByRetention } from '#store/retention-store.ts';
import { startLostForgettings } from '#temporal/forgetting-start.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';

describe('forgetting', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  const say = async (session: string, text: string, user?: string): Promise<string> => {
    const { turn_id } = await stack.worker.say(session, text, user === undefined ? {} : { user });
    await stack.worker.ended(turn_id);
    return turn_id;
  };
  const done = (id: string): Promise<Forgetting> =>
    stack.worker.until('the receipt', async () => {
      const { body } = await stack.ask('GET', `/v1/forgettings/${id}`);
      return body.status === 'done' ? body : undefined;
    });
  const forget = async (path: string): Promise<Forgetting> => {
    const { status, body } = await stack.ask('DELETE', path);
    assert.equal(status, 202);
    return done(body.id);
  };
  /** The tables and columns that still contain the text. */
  const whereIs = async (text: string): Promise<readonly string[]> => {
    const { rows } = await stack.pool.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const { rowCount } = await stack.pool.query(
        `select 1 from "${name}" t where t::text like '%' || $1 || '%' limit 1`,
        [text],
      );
      if (rowCount) found.push(name);
    }
    return found;
  };
  const runsOf = async (session: string): Promise<number> => {
    let runs = 0;
    const query = `TempoclawTenant = '${stack.tenant}' and TempoclawSession = '${session}'`;
    for await (const _ of stack.worker.client.workflow.list({ query })) runs += 1;
    return runs;
  };

  it('of a session leaves no row of it, nor of its subagents, and another session as it was', async () => {
    const spawn = `spawn ${JSON.stringify({ task: 'Say quokka-child.', mode: 'sync' })}`;
    await say(
      'gone',
      `write_file {"path":"a.txt","content":"quokka"}\nthen\n${spawn}\nthen\nquokka is said.`,
    );
    await say('stays', 'numbat is said.');
    const receipt = await forget('/v1/sessions/gone');
    assert.equal(receipt.removed['sessions'], 2);
    assert.ok((receipt.removed['messages'] ?? 0) >= 4 && (receipt.removed['events'] ?? 0) > 4);
    assert.ok((receipt.removed['tool_calls'] ?? 0) >= 2);
    assert.deepEqual(await whereIs('quokka'), []);
    assert.deepEqual(await whereIs(`"gone"`), []);
    assert.equal((await stack.ask('GET', '/v1/sessions/gone')).status, 404);
    assert.equal((await stack.ask('GET', '/v1/sessions/stays/messages')).body.data.length, 2);
    assert.ok((await runsOf('stays')) > 0);
  });

  it('takes the answers that were kept for a repeated Idempotency-Key, of a session and of a user', async () => {
    for (const [session, path] of [
      ['answered', '/v1/sessions/answered'],
      ['answered-ivo', '/v1/users/ivo'],
    ] as const) {
      const key = await stack.makeKey(['run', 'read'], path.endsWith('ivo') ? { user: 'ivo' } : {});
      const answer = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
        key,
        body: { text: `wombat of ${session}` },
        headers: { 'idempotency-key': `k-${session}` },
      });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.ok((await whereIs('wombat')).includes('idempotency_keys'));
      const { removed } = await forget(path);
      assert.equal(removed['idempotency_keys'], 1);
      assert.deepEqual(await whereIs('wombat'), []);
    }
  });

  it('DU-7 keeps what it has cost, in sums that name no session, and no user who is forgotten', async () => {
    const usage = async (by: string) => (await stack.ask('GET', `/v1/usage?by=${by}`)).body.data;
    const names = async (by: 'session' | 'user') =>
      (await usage(by)).map((row: Record<string, unknown>) => row[by]);
    await say('paid', 'hello', 'payer');
    await addUsesToSums(stack.pool);
    await say('paid', 'hello again', 'payer');
    const before = await usage('agent,kind');
    assert.deepEqual(
      [(await names('session')).includes('paid'), (await names('user')).includes('payer')],
      [true, true],
    );
    await forget('/v1/sessions/paid');
    assert.deepEqual(await usage('agent,kind'), before);
    assert.deepEqual(
      [(await names('session')).includes('paid'), (await names('user')).includes('payer')],
      [false, true],
    );
    await forget('/v1/users/payer');
    assert.deepEqual(await usage('agent,kind'), before);
    assert.deepEqual(await whereIs('payer'), ['forgettings']);
  });

  it('stops what runs in it, and a call that waits for a person', async () => {
    const { turn_id } = await stack.worker.say('busy', 'poke {"note":"wombat"}\nthen\nDone.');
    await stack.worker.approvalOf('busy');
    const receipt = await forget('/v1/sessions/busy');
    assert.equal(receipt.removed['approvals'], 1);
    assert.deepEqual(await whereIs('wombat'), []);
    assert.deepEqual(await whereIs(turn_id), []);
  });

  it('leaves what is said after it, as a session that knows nothing of before', async () => {
    await say('again', 'bilby one');
    await forget('/v1/sessions/again');
    await say('again', 'second');
    const { body } = await stack.ask('GET', '/v1/sessions/again/messages');
    assert.deepEqual(
      body.data.map(({ text }: { text: string }) => text.includes('bilby')),
      [false, false],
    );
  });

  it('keeps the marks of what a turn has read that begins while the rest is removed (PO-5)', async (t) => {
    await say('marked', 'potoroo one');
    let begun: Promise<unknown> | undefined;
    const begin = async (): Promise<void> => {
      await stack.worker.say('marked', 'hold {"note":"marked"}');
      await stack.worker.probes.untilHeld('marked');
      await stack.pool.query(`select note_used($1, 'marked', '{"web_fetch":"call_1"}')`, [stack.tenant]);
    };
    observeStatements(t, stack.pool, async ({ text }) => {
      if (text.includes('update forgettings set until') && !begun) await (begun = begin());
    });
    await forget('/v1/sessions/marked');
    const { rows } = await stack.pool.query(`select used from sessions where key = 'marked'`);
    stack.worker.probes.release('marked');
    assert.deepEqual(Object.keys(rows[0].used), ['web_fetch']);
    assert.deepEqual(await whereIs('potoroo one'), []);
  });

  it('takes a session of the user that begins while the others are stopped', async (t) => {
    await say('early', 'dibbler one', 'hanna');
    let begun: Promise<unknown> | undefined;
    observeStatements(t, stack.pool, async ({ text }) => {
      if (text.includes('update forgettings set sessions') && !begun)
        await (begun = stack.ask('POST', '/v1/sessions/late/messages', {
          body: { text: 'dibbler two', user: 'hanna' },
        }));
    });
    await forget('/v1/users/hanna');
    assert.ok(begun, 'sessions are noted');
    assert.deepEqual(await whereIs('dibbler'), []);
  });

  it('of a user takes all of his sessions, documents and keys, and nobody else’s', async () => {
    await say('ann-1', 'potoroo one', 'ann');
    await say('ann-2', 'potoroo two', 'ann');
    await say('ben-1', 'dunnart', 'ben');
    for (const user of ['ann', 'ben'])
      await writeDocument(
        stack.pool,
        { tenant: stack.tenant, agent: 'main', user },
        { path: 'USER.md', author: user, by: () => `likes ${user === 'ann' ? 'potoroo' : 'dunnart'}` },
      );
    const key = await stack.makeKey(['run'], { user: 'ann' });
    for (const [name, visibility] of [
      ['own', 'private'],
      ['shared', 'public'],
    ]) {
      const content = `---\nname: ${name}\ndescription: x\n---\nOf ${name}.`;
      const write = `write_file ${JSON.stringify({ path: `skills/${name}/SKILL.md`, content })}`;
      await say(
        'ann-3',
        `${write}\nthen\npublish_skill {"path":"skills/${name}","visibility":"${visibility}"}`,
        'ann',
      );
    }
    const receipt = await forget('/v1/users/ann');
    assert.deepEqual(await whereIs('potoroo'), []);
    assert.equal(receipt.removed['sessions'], 3);
    assert.equal(receipt.removed['documents'], 1);
    const { rows: skills } = await stack.pool.query(
      `select s.name, s.owner, v.published_by, v.call_id from skills s join skill_versions v using (tenant_id, name)`,
    );
    assert.deepEqual(skills, [
      { name: 'shared', owner: null, published_by: 'a user who is forgotten', call_id: null },
    ]);
    const { rows: files } = await stack.pool.query(`select convert_from(bytes, 'utf8') as text from files`);
    assert.deepEqual(
      files.map(({ text }: { text: string }) => text.split('\n').at(-1)),
      ['Of shared.'],
    );
    assert.equal(receipt.removed['api_keys'], 1);
    const fresh = await stack.ask('GET', '/v1/agents', { key });
    assert.ok([200, 401].includes(fresh.status), 'known for at most ten seconds more');
    assert.ok((await whereIs('dunnart')).includes('documents'));
  });

  it('asked for twice at once is done once, and needs an admin', async () => {
    await say('twice', 'hello');
    const requests = await Promise.all([1, 2, 3].map(() => stack.ask('DELETE', '/v1/sessions/twice')));
    const accepted = requests.filter(({ status }) => status === 202);
    assert.ok(accepted.length > 0 && requests.every(({ status }) => status === 202 || status === 404));
    for (const { body } of accepted) await done(body.id);
    const key = await stack.makeKey(['run', 'approve']);
    assert.equal((await stack.ask('DELETE', '/v1/sessions/twice', { key })).status, 403);
    assert.equal((await stack.ask('DELETE', '/v1/sessions/never-was')).status, 404);
    assert.equal((await stack.ask('DELETE', '/v1/users/ann', { key })).status, 403);
  });

  it('whose workflow was never started, since the API died, is started by the sweep', async () => {
    await say('lost', 'hello');
    await stack.pool.query(
      `insert into forgettings (tenant_id, id, kind, subject, requested_by) values ($1, 'fgt_lost', 'session', 'lost', 'ann')`,
      [stack.tenant],
    );
    assert.equal(await startLostForgettings(stack.pool, stack.worker.temporal, 0), 1);
    assert.equal((await done('fgt_lost')).removed['sessions'], 1);
  });

  it('by age takes what the tenant does not keep, and only that', async () => {
    await say('old', 'thylacine');
    await say('new', 'hello');
    assert.equal((await stack.ask('PUT', '/v1/retention', { body: { events_days: 0 } })).status, 400);
    assert.deepEqual((await stack.ask('PUT', '/v1/retention', { body: { transcripts_days: 30 } })).body, {
      transcripts_days: 30,
    });
    await pruneByRetention(stack.pool, ROWS, {});
    assert.notDeepEqual(await whereIs('thylacine'), []);
    for (const [table, column] of [
      ['sessions', 'updated_at'],
      ['turns', 'created_at'],
      ['messages', 'created_at'],
      ['events', 'at'],
    ])
      await stack.pool.query(
        `update ${table} set ${column} = ${column} - interval '31 days' where ${table === 'sessions' ? 'key' : 'session_key'} = 'old'`,
      );
    await pruneByRetention(stack.pool, ROWS, {});
    assert.deepEqual(await whereIs('thylacine'), []);
    assert.equal((await stack.ask('GET', '/v1/sessions/new/messages')).body.data.length, 2);
  });

  it('of events alone keeps the transcript', async () => {
    await say('feed', 'hello');
    await stack.pool.query(`update events set at = at - interval '8 days' where session_key = 'feed'`);
    await pruneByRetention(stack.pool, ROWS, { events_days: 7 });
    const { rows } = await stack.pool.query(`select from events where session_key = 'feed'`);
    assert.equal(rows.length, 0);
    assert.equal((await stack.ask('GET', '/v1/sessions/feed/messages')).body.data.length, 2);
  });

  // This is last, because Temporal takes a while to delete what it has accepted.
  it('leaves none of its runs in Temporal', async () => {
    await stack.worker.until('no run', async () => ((await runsOf('gone')) === 0 ? true : undefined));
  });
});
